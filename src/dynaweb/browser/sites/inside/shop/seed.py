"""Fill a new shop: categories, products with prices and stock, people, addresses, reviews, orders."""

import shutil
from datetime import timedelta
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from random import Random

from django.contrib.auth import get_user_model
from django.contrib.sites.models import Site
from django.db import transaction
from oscar.apps.catalogue.categories import create_from_breadcrumbs
from oscar.core.loading import get_model

from dynaweb.browser.sites.inside import djangosite
from dynaweb.browser.sites.inside.clock import BEGIN, OPENED, at
from dynaweb.browser.sites.inside.people import PEOPLE
from dynaweb.browser.sites.inside.shop import content, orders
from dynaweb.browser.sites.inside.telling import STAGES, tell

PER_SHELF = 10
ORDERS = 40

Address = get_model("address", "UserAddress")
Country = get_model("address", "Country")
Partner = get_model("partner", "Partner")
Product = get_model("catalogue", "Product")
ProductClass = get_model("catalogue", "ProductClass")
Review = get_model("reviews", "ProductReview")


def fill_shop(data: Path, seed: int) -> dict[str, int]:
    """Fill the shop whose empty tables are in `data`; how many there are of each thing."""
    missing = "image_not_found.jpg"
    shutil.copy(str(files("oscar") / "static" / "oscar" / "img" / missing), data / "media")
    rng = Random(f"shop {seed}")
    with transaction.atomic():
        tell(1, STAGES, "people")
        with at(OPENED):
            _shop()
            _people(rng)
        tell(2, STAGES, "products")
        products = _products(rng)
        tell(3, STAGES, "reviews and orders")
        reviews = _reviews(rng)
        placed = orders.place(rng, ORDERS)
    tell(4, STAGES, "search index")
    djangosite.make_index()
    return {
        "products": products,
        "categories": len(content.SHELVES),
        "orders": placed,
        "reviews": reviews,
        "users": len(PEOPLE),
    }


def _shop() -> None:
    Site.objects.update(domain="shop.localhost", name="Lantern Street")
    for code, name in content.COUNTRIES:
        Country.objects.create(
            iso_3166_1_a2=code, name=name, printable_name=name, is_shipping_country=True
        )


def _people(rng: Random) -> None:
    for person in PEOPLE:
        first, _, last = person.name.partition(" ")
        user = get_user_model().objects.create_user(
            person.username, person.email, person.password, first_name=first, last_name=last
        )
        user.is_staff = user.is_superuser = person.staff
        user.save()
        town, code = rng.choice(content.TOWNS)
        Address.objects.create(
            user=user, first_name=first, last_name=last, line1=f"{rng.choice(content.STREETS)} {rng.randint(1, 90)}",
            line4=town, postcode=code, is_default_for_shipping=True, is_default_for_billing=True,
            country=Country.objects.get(pk=content.COUNTRIES[0][0]),
        )  # fmt: skip


def _products(rng: Random) -> int:
    kind = ProductClass.objects.create(name="Thing")
    for name in ("Maker", "Colour", "Material"):
        kind.attributes.create(name=name, code=name.lower(), type="text")
    partner = Partner.objects.create(name="Warehouse Weir", code="weir")
    number = 0
    for path, nouns in content.SHELVES.items():
        category = create_from_breadcrumbs(path)
        category.description = f"{path.rpartition(' > ')[2]} that we would buy ourselves."
        category.save()
        names = [(noun, k) for noun in nouns for k in content.KINDS]
        for noun, k in rng.sample(names, PER_SHELF):
            number += 1
            when = OPENED + timedelta(hours=40 * number)
            with at(when):
                _product(rng, kind, partner, category, number, f"{noun}, {k}")
    return number


def _product(
    rng: Random, kind: object, partner: object, category: object, number: int, title: str
) -> None:
    maker, colour = rng.choice(content.MAKERS), rng.choice(content.COLOURS)
    material = rng.choice(content.MATERIALS)
    product = Product(
        product_class=kind,
        title=f"{maker} {title}",
        upc=f"LS-{number:04}",
        description=f"<p>{title}, {colour}, with {material}. {rng.choice(content.PRAISE)}</p><p>{rng.choice(content.CARE)}</p>",
    )
    product.attr.maker, product.attr.colour, product.attr.material = maker, colour, material
    product.save()
    product.categories.add(category)
    stock = 0 if rng.random() < 0.12 else rng.randint(1, 60)
    product.stockrecords.create(
        partner=partner,
        partner_sku=f"W{number:05}",
        price_currency="EUR",
        price=Decimal(rng.randint(5, 240)) - Decimal("0.05") * rng.choice((1, 2, 10)),
        num_in_stock=stock,
    )


def _reviews(rng: Random) -> int:
    users = list(get_user_model().objects.order_by("pk"))
    count = 0
    for product in Product.objects.order_by("pk"):
        for user in rng.sample(users, rng.choice((0, 0, 1, 2, 3))):
            title, body, score = rng.choice(content.REVIEWS)
            with at(BEGIN - timedelta(hours=rng.randint(1, 24 * 80))):
                Review.objects.create(
                    product=product, user=user, title=title, body=body, score=score
                )
            count += 1
        product.update_rating()
    return count
