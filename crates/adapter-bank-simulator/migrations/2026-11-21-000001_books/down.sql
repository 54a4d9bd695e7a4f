DROP TABLE transactions;
DROP TABLE cards;
DROP TABLE instructions;
DROP TABLE presses;
