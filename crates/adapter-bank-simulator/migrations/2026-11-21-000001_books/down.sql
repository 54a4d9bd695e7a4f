DROP TABLE commands;
DROP TABLE transactions;
DROP TABLE limits;
DROP TABLE cards;
DROP TABLE instructions;
DROP TABLE presses;
