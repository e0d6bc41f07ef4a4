"""Fill a new forum: people, categories, topics, comments, likes."""

from datetime import datetime, timedelta
from random import Random

from django.contrib.auth import get_user_model
from django.db import transaction
from spirit.category.models import Category
from spirit.comment.like.models import CommentLike
from spirit.comment.models import Comment
from spirit.core.utils.markdown import Markdown
from spirit.topic.models import Topic
from spirit.user.models import UserProfile

from dynaweb.browser.sites.inside import djangosite
from dynaweb.browser.sites.inside.clock import BEGIN, OPENED, at
from dynaweb.browser.sites.inside.forum import content
from dynaweb.browser.sites.inside.people import PEOPLE
from dynaweb.browser.sites.inside.telling import STAGES, tell

SPAN = timedelta(days=200)
"""How far back the oldest topic is."""


def fill_forum(seed: int) -> dict[str, int]:
    """Fill the forum whose empty tables are there; how many there are of each thing."""
    with transaction.atomic():
        tell(1, STAGES, "people and categories")
        with at(OPENED):
            _people()
            _categories()
        tell(2, STAGES, "topics")
        topics, comments = _topics(Random(f"forum {seed}"))
    tell(4, STAGES, "search index")
    djangosite.make_index()
    return {
        "topics": topics,
        "comments": comments,
        "categories": len(content.CATEGORIES),
        "users": len(PEOPLE),
    }


def _people() -> None:
    model = get_user_model()
    for person in PEOPLE:
        user = model.objects.create_user(person.username, person.email, person.password)
        user.is_superuser = user.is_staff = person.staff
        user.save()
        user.st.nickname, user.st.is_verified = person.name, True
        user.st.is_administrator = person.staff
        user.st.save()


def _categories() -> None:
    Category.objects.filter(title="Uncategorized").delete()
    for number, (title, description) in enumerate(content.CATEGORIES.items()):
        Category.objects.create(title=title, description=description, sort=number)


def _topics(rng: Random) -> tuple[int, int]:
    """Oldest first, so that numbers grow with time."""
    wanted = [(category, title) for category, titles in content.TOPICS.items() for title in titles]
    rng.shuffle(wanted)
    comments = 0
    for number, (category, title) in enumerate(wanted):
        when = BEGIN - SPAN + (SPAN - timedelta(days=3)) * number / len(wanted)
        comments += _topic(rng, when + timedelta(minutes=rng.randrange(1000)), category, title)
    return len(wanted), comments


def _topic(rng: Random, when: datetime, category: str, title: str) -> int:
    users = list(get_user_model().objects.order_by("pk"))
    author = users[0] if category == "Announcements" else rng.choice(users)
    with at(when):
        topic = Topic.objects.create(
            title=title,
            category=Category.objects.get(title=category),
            user=author,
            is_pinned=title.startswith("House rules"),
            view_count=rng.randint(5, 180),
        )
    texts = [f"{rng.choice(content.OPENINGS)} {' '.join(rng.sample(content.MIDDLES, 2))}"]
    texts += rng.sample(content.REPLIES, rng.randint(1, 7))
    for number, text in enumerate(texts):
        user = author if number == 0 else rng.choice(users)
        with at(when):
            comment = Comment.objects.create(
                user=user, topic=topic, comment=text, comment_html=Markdown().render(text)
            )
            fans = rng.sample([u for u in users if u != user], rng.choice((0, 0, 1, 2)))
            for fan in fans:
                CommentLike.objects.create(user=fan, comment=comment)
        Comment.objects.filter(pk=comment.pk).update(likes_count=len(fans))
        last, when = when, min(when + timedelta(minutes=rng.randint(9, 900)), BEGIN - timedelta(minutes=30))  # fmt: skip
    Topic.objects.filter(pk=topic.pk).update(comment_count=len(texts), last_active=last)
    profile = UserProfile.objects.filter(user=author)
    profile.update(topic_count=profile.get().topic_count + 1)
    return len(texts)
