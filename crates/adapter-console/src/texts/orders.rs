//! Texts of orders.

use super::{Text, texts};

texts! {
    ORDERS = "Orders and stock", "Заказы и карты";
    ORDER = "Order", "Заказ";
    NO_ORDERS = "No orders.", "Заказов нет.";
    ACCEPTED = "accepted", "принят";
    RECEIPT_CONFIRMED = "receipt confirmed", "получение подтверждено";
    PLASTIC_CARDS = "Plastic cards", "Пластиковые карты";
    VIRTUAL_CARDS = "Virtual cards", "Виртуальные карты";
    CARDS = "Cards", "Карты";
    STOCK = "Unassigned cards in stock", "Свободных карт";
    HOW_MANY = "How many", "Сколько";
    DELIVERY_ADDRESS = "Delivery address", "Адрес доставки";
    RECIPIENT = "Recipient", "Получатель";
    AMOUNT_OF_EACH = "Amount of each in roubles", "Сумма каждой в рублях";
    ORDER_CARDS = "Order", "Заказать";
    CANCEL_ORDER = "Cancel the order", "Отменить заказ";
    CONFIRM_RECEIPT = "Confirm the receipt", "Подтвердить получение";
    SHOW_CARDS = "Show cards and codes", "Показать карты и коды";
    ACTIVATION_CODE = "Activation code", "Код активации";
    CODES_ARE_AUDITED = "A code activates its card for anyone. The audit log records who has looked.", "Кодом карту может активировать кто угодно. Журнал записывает, кто смотрел.";
    NEW_ORDER = "New order", "Новый заказ";
    ALL_STOCK = "All cards in stock", "Все свободные карты";
    FOR_WHOM = "For whom", "Для кого";
    A_NUMBER_OF_CARDS = "a number of cards", "указать количество карт";
    ALL_WITHOUT_A_CARD = "everybody who has no main card", "все, у кого нет основной карты";
    WITHOUT_A_CARD_IN = "without a main card, of the category", "без основной карты, из категории";
    PEOPLE_WITHOUT_A_CARD = "People without a main card", "Сотрудники без основной карты";
    EVERYBODY_HAS_A_CARD = "Everybody there has a main card.", "Там у всех есть основная карта.";
}
