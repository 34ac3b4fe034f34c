"""Writes commands for groonga: 8,000 documents of made-up words with a full-text index. Always the same ones."""

import json
import random

random.seed(42)
SYLLABLES = [consonant + vowel for consonant in "bcdfghklmnprst" for vowel in "aeiou"]
WORDS = ["".join(random.choices(SYLLABLES, k=random.randint(2, 4))) for _ in range(3000)]
# The word that queries look for: frequent, but not in every document.
WORDS[5] = "needle"
# Zipf's law: the n-th word is an n-th as frequent as the first.
WEIGHTS = [1 / (rank + 1) for rank in range(len(WORDS))]
CATEGORIES = [f"category {number:02}" for number in range(40)]


def text(words):
    return " ".join(random.choices(WORDS, WEIGHTS, k=words))


print("table_create Categories TABLE_PAT_KEY ShortText")
print("table_create Tags TABLE_PAT_KEY ShortText")
print("table_create Documents TABLE_HASH_KEY ShortText")
print("column_create Documents title COLUMN_SCALAR ShortText")
print("column_create Documents body COLUMN_SCALAR Text")
print("column_create Documents category COLUMN_SCALAR Categories")
print("column_create Documents tags COLUMN_VECTOR Tags")
print("table_create Terms TABLE_PAT_KEY ShortText --default_tokenizer TokenBigram --normalizer NormalizerAuto")
print("column_create Terms of COLUMN_INDEX|WITH_POSITION|WITH_SECTION Documents title,body")
print("column_create Categories of COLUMN_INDEX Documents category")
print("column_create Tags of COLUMN_INDEX Documents tags")
print("load --table Documents")
documents = (
    json.dumps({
        "_key": f"d{number:06}",
        "title": text(6),
        "body": text(60),
        "category": random.choice(CATEGORIES),
        "tags": random.sample(WORDS[:500], 5),
    })
    for number in range(8000)
)
print("[\n" + ",\n".join(documents) + "\n]")
