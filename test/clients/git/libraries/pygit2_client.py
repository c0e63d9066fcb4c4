"""Clones, deepens and pushes with libgit2. Arguments: address, user, password, directory."""

import json
import sys

import pygit2

address, user, password, directory = sys.argv[1:]
UNLIMITED = 2**31 - 1


class Callbacks(pygit2.RemoteCallbacks):
    def __init__(self):
        super().__init__(credentials=pygit2.UserPass(user, password))
        self.refused = []

    def push_update_reference(self, refname, message):
        if message is not None:
            self.refused.append(refname)


def count(repository):
    return len(list(repository.walk(repository.head.target)))


full = pygit2.clone_repository(address, f"{directory}/full", callbacks=Callbacks())
shallow = pygit2.clone_repository(address, f"{directory}/shallow", depth=1, callbacks=Callbacks())
depths = [count(shallow)]
for depth in (3, UNLIMITED):
    shallow.remotes["origin"].fetch(depth=depth, callbacks=Callbacks())
    depths.append(count(shallow))

tip = full.head.peel(pygit2.Commit)
full.references.create("refs/heads/new", tip.id)
full.references.create("refs/heads/old", tip.parent_ids[0])
full.create_tag("made", tip.id, pygit2.GIT_OBJECT_COMMIT, tip.author, "made here")
pushed = Callbacks()
specs = ["refs/heads/new", "+refs/heads/old", "refs/tags/made", ":refs/heads/gone"]
full.remotes["origin"].push(specs, callbacks=pushed)
refused = Callbacks()
specs = ["refs/heads/new:refs/heads/beside", "refs/heads/new:refs/pull/1/head"]
full.remotes["origin"].push(specs, callbacks=refused)

print(json.dumps({"commits": count(full), "depths": depths, "refused": pushed.refused + refused.refused}))
