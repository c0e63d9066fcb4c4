"""Clones, deepens, filters and pushes with dulwich. Arguments: address, user, password, directory."""

import io
import json
import sys

from dulwich import porcelain
from dulwich.objects import Blob
from dulwich.repo import Repo

address, user, password, directory = sys.argv[1:]
CREDENTIALS = {"username": user, "password": password}
QUIET = {"errstream": io.BytesIO()}


def clone(name, **options):
    return porcelain.clone(address, f"{directory}/{name}", **options, **CREDENTIALS, **QUIET)


def count(repository):
    return len(list(repository.get_walker()))


full = clone("full")
shallow = clone("shallow", depth=1)
depths = [count(shallow)]
for options in ({"depth": 3}, {"unshallow": True}):
    porcelain.fetch(shallow, address, outstream=io.StringIO(), **options, **CREDENTIALS, **QUIET)
    depths.append(count(Repo(shallow.path)))

partial = clone("partial", bare=True, filter_spec="blob:none", protocol_version=2)
objects = [partial.object_store[each] for each in partial.object_store]
blobs = sum(isinstance(each, Blob) for each in objects)

head = full.head()
full.refs[b"refs/heads/new"] = head
full.refs[b"refs/heads/old"] = full[head].parents[0]
porcelain.tag_create(full, b"made", message=b"made here", annotated=True)


def push(*specs, **options):
    result = porcelain.push(
        full, address, list(specs), outstream=io.BytesIO(), **options, **CREDENTIALS, **QUIET
    )
    return [ref.decode() for ref, error in (result.ref_status or {}).items() if error]


refused = push("refs/heads/new", "+refs/heads/old", "refs/tags/made", ":refs/heads/gone")
specs = ("refs/heads/new:refs/heads/beside", "refs/heads/new:refs/pull/1/head")
try:
    refused += push(*specs, atomic=True)
except porcelain.Error:
    refused += ["atomic"]

print(
    json.dumps({"commits": count(full), "depths": depths, "blobs": blobs, "refused": refused})
)
