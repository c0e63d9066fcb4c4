import { expect, it } from "vitest";

import { accountActor } from "../../../../src/auth/actor.ts";
import { listRecentRepositories } from "../../../../src/domain/repos/repository/list-recent-repositories.ts";
import { recordEvent } from "../../../support/activities.ts";
import { make, type TestUser } from "../../../support/make.ts";
import { systemCtx } from "../../../support/system.ts";

const namesFor = async (user: TestUser, size = 10): Promise<string[]> => {
  const ctx = { ...systemCtx({}, Date.now()), actor: accountActor(user) };
  return (await listRecentRepositories(ctx, user, size)).map(({ row }) => row.name);
};

it("lists the repositories in which a user acted, each once, the last one first", async () => {
  const [user, other] = [await make.user(), await make.user()];
  const [first, second, unused] = [
    await make.repo(other, { visibility: "public" }),
    await make.repo(user),
    await make.repo(user),
  ];
  for (const repo of [first, second, first]) await recordEvent(repo, user);
  await recordEvent(unused, other);
  expect(await namesFor(user)).toEqual([first.name, second.name]);
  expect(await namesFor(user, 1)).toEqual([first.name]);
});

// SECURITY: to have acted there gives nobody access.
it("lists none that the user may not see any more", async () => {
  const [user, other] = [await make.user(), await make.user()];
  const repo = await make.repo(other, { isPrivate: true, visibility: "private" });
  await recordEvent(repo, user);
  expect(await namesFor(user)).toEqual([]);
  await make.collaborator(repo, user, 1);
  expect(await namesFor(user)).toEqual([repo.name]);
});

it("examines a bounded number of events", async () => {
  const user = await make.user();
  const [old, busy] = [await make.repo(user), await make.repo(user)];
  await recordEvent(old, user);
  for (let count = 0; count < 300; count++) await recordEvent(busy, user);
  expect(await namesFor(user)).toEqual([busy.name]);
});
