"""The nine products of Online Boutique. A picture names a drawing in `templates/pictures.html`."""

PRODUCTS = (
    # id, name, description, picture, price in US cents, categories
    (
        "0PUK6V6EV0",
        "Candle Holder",
        "This small but intricate candle holder is an excellent gift.",
        "candle",
        1899,
        "decor,home",
    ),
    (
        "1YMWWN1N4O",
        "Watch",
        "This gold-tone stainless steel watch will work with most of your outfits.",
        "watch",
        10999,
        "accessories",
    ),
    (
        "2ZYFJ3GM2N",
        "Hairdryer",
        "This lightweight hairdryer has 3 heat and speed settings. It's perfect for travel.",
        "hairdryer",
        2499,
        "hair,beauty",
    ),
    ("66VCHSJNUP", "Tank Top", "Perfectly cropped cotton tank, with a scooped neckline.", "top", 1899, "clothing,tops"),
    ("6E92ZMYYFZ", "Mug", "A simple mug with a mustard interior.", "mug", 899, "kitchen"),
    (
        "9SIQT8TOJO",
        "Bamboo Glass Jar",
        "This bamboo glass jar can hold 57 oz (1.7 l) and is perfect for any kitchen.",
        "jar",
        549,
        "kitchen",
    ),
    ("L9ECAV7KIM", "Loafers", "A neat addition to your summer wardrobe.", "loafers", 8999, "footwear"),
    ("LS4PSXUNUM", "Salt & Pepper Shakers", "Add some flavor to your kitchen.", "shakers", 1849, "kitchen"),
    (
        "OLJCESPC7Z",
        "Sunglasses",
        "Add a modern touch to your outfits with these sleek aviator sunglasses.",
        "sunglasses",
        1999,
        "accessories",
    ),
)

SCHEMA = """
CREATE TABLE products (
    id text PRIMARY KEY,
    name text NOT NULL,
    description text NOT NULL,
    picture text NOT NULL,
    price_usd_cents bigint NOT NULL,
    categories text NOT NULL
)"""
INSERT = "INSERT INTO products VALUES (%s, %s, %s, %s, %s, %s)"
