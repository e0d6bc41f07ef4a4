"""Orders as customers place them: a basket, an address, the shop's own order creator. Needs Django to be set up."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random

from django.contrib.auth import get_user_model
from oscar.core.loading import get_class, get_model

from dynaweb.browser.sites.inside.clock import BEGIN, at

Basket = get_model("basket", "Basket")
Product = get_model("catalogue", "Product")
ShippingAddress = get_model("order", "ShippingAddress")
Selector = get_class("partner.strategy", "Selector")
Free = get_class("shipping.methods", "Free")
OrderCreator = get_class("order.utils", "OrderCreator")
OrderTotalCalculator = get_class("checkout.calculators", "OrderTotalCalculator")


ENOUGH = 15
"""Pieces in stock of what is ordered, so that no order is refused."""


def place(rng: Random, wanted: int) -> int:
    """Place orders over the last months, oldest first; how many."""
    users = list(get_user_model().objects.filter(is_staff=False).order_by("pk"))
    there = list(Product.objects.filter(stockrecords__num_in_stock__gte=ENOUGH).order_by("pk"))
    for number in range(wanted):
        when = BEGIN - timedelta(days=90) * (wanted - number) / wanted
        products = rng.sample(there, rng.randint(1, 4))
        with at(when.replace(microsecond=0)):
            _order(rng, rng.choice(users), products, when)
    return wanted


def _order(rng: Random, user: object, products: Sequence[object], when: datetime) -> None:
    basket = Basket.objects.create(owner=user)
    basket.strategy = Selector().strategy(user=user)
    for product in products:
        basket.add_product(product, rng.randint(1, 2))
    home = user.addresses.get()  # type: ignore[attr-defined]  # Oscar's user
    address = ShippingAddress()
    home.populate_alternative_model(address)
    address.save()
    method = Free()
    charge = method.calculate(basket)
    order = OrderCreator().place_order(
        basket=basket,
        total=OrderTotalCalculator().calculate(basket, charge),
        shipping_method=method,
        shipping_charge=charge,
        user=user,
        shipping_address=address,
    )
    basket.submit()
    age = BEGIN - when
    if rng.random() < 0.1:
        order.set_status("Cancelled")
    elif age > timedelta(days=5):
        order.set_status("Being processed")
        if age > timedelta(days=12):
            order.set_status("Complete")
