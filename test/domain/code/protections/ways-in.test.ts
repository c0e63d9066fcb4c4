import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { branchProtections } from "../../../../src/db/schema/index.ts";
import { encodeUtf8 } from "../../../../src/git/byte-text.ts";
import { formatBase64 } from "../../../../src/lib/base64.ts";
import { call } from "../../../support/call.ts";
import { db } from "../../../support/db.ts";
import {
  apiOf,
  commits,
  compare,
  expressionOf,
  makeWorld,
  oidOf,
  pickMove,
  pushOne,
  randomOf,
  runSeeds,
  type WayIn,
} from "../../../support/generated-rules.ts";
import { makeTagRule } from "../../../support/protections.ts";
import { storeRefs } from "../../../support/push.ts";

const WAYS: Record<string, WayIn> = {
  async "a push"(seed) {
    const world = await makeWorld(seed);
    const { path, forward } = pickMove(world.random);
    const attempt = { kind: "update", changed: [path], hasCommits: true } as const;
    const ref = `refs/heads/${world.branch}`;
    return pushOne(
      world,
      ref,
      { old: commits.base, new: forward },
      world.expected(world.branch, attempt),
    );
  },

  async "a forced push"(seed) {
    const world = await makeWorld(seed);
    const { path, forced } = pickMove(world.random);
    const attempt = { kind: "update", isForced: true, changed: [path], hasCommits: true } as const;
    const ref = `refs/heads/${world.branch}`;
    return pushOne(
      world,
      ref,
      { old: commits.base, new: forced },
      world.expected(world.branch, attempt),
    );
  },

  async "a push that creates a branch"(seed) {
    const world = await makeWorld(seed, () => false);
    const name = `${world.random.pick(["rel", "new"])}/${world.random.pick(["1", "2/3"])}`;
    const move = pickMove(world.random);
    const isNew = world.random.chance(50);
    const attempt = {
      kind: "create",
      changed: isNew ? [move.path] : [],
      hasCommits: isNew,
    } as const;
    const oid = isNew ? move.forward : commits.base;
    return pushOne(world, `refs/heads/${name}`, { new: oid }, world.expected(name, attempt));
  },

  async "a push that deletes a branch"(seed) {
    const world = await makeWorld(seed);
    const isDefault = world.branch === "main";
    const expected = isDefault
      ? "default branch"
      : world.expected(world.branch, { kind: "delete" });
    return pushOne(world, `refs/heads/${world.branch}`, { old: commits.base }, expected);
  },

  async "a change of a file"(seed) {
    const world = await makeWorld(seed);
    const { path } = pickMove(world.random);
    const { user } = world.actor;
    const url = apiOf(world.repo, `contents/${path}`);
    const got = await call("GET", url, { as: user });
    const json = {
      content: formatBase64(encodeUtf8("new")),
      sha: got.body.sha,
      branch: world.branch,
    };
    const answer = await call("PUT", url, { as: user, json });
    const attempt = { kind: "update", changed: [path], hasCommits: true } as const;
    const found = world.expected(world.branch, attempt);
    const words: Record<string, string> = {
      "push to": `user cannot commit to repo [user: ${user.name}]`,
      [`file ${path}`]: `path is protected and can not be changed [path: ${path}]`,
    };
    expect(answer.status).toBe(found === undefined ? 200 : 403);
    const expected = found && (words[found] ?? found);
    const ref = `refs/heads/${world.branch}`;
    return compare(world, ref, expected, JSON.stringify(answer.body), commits.base);
  },

  async "POST /branches"(seed) {
    const world = await makeWorld(seed, () => false);
    const name = world.random.pick(["rel/1", "rel/x", "new", "rel/a/b"]);
    const json = { new_branch_name: name, old_ref_name: "main" };
    const answer = await call("POST", apiOf(world.repo, "branches"), {
      as: world.actor.user,
      json,
    });
    const expected = world.expected(name, { kind: "create" });
    expect(answer.status).toBe(expected === undefined ? 201 : 403);
    const words = JSON.stringify(answer.body);
    return compare(world, `refs/heads/${name}`, expected, words, undefined);
  },

  async "PUT /branches/{branch}"(seed) {
    const world = await makeWorld(seed);
    const move = pickMove(world.random);
    const isForced = world.random.chance(50);
    const attempt = { kind: "update", isForced, changed: [move.path], hasCommits: true } as const;
    const expected = world.expected(world.branch, attempt);
    const answer = await call("PUT", apiOf(world.repo, `branches/${world.branch}`), {
      as: world.actor.user,
      json: { new_commit_id: isForced ? move.forced : move.forward, force: true },
    });
    expect(answer.status).toBe(expected === undefined ? 204 : 403);
    const words = JSON.stringify(answer.body);
    return compare(world, `refs/heads/${world.branch}`, expected, words, commits.base);
  },

  async "DELETE /branches/{branch}"(seed) {
    const world = await makeWorld(seed);
    const isDefault = world.branch === "main";
    const isRefused = isDefault || world.appliedTo(world.branch).length > 0;
    const answer = await call("DELETE", apiOf(world.repo, `branches/${world.branch}`), {
      as: world.actor.user,
    });
    expect(answer.status).toBe(isRefused ? 403 : 204);
    const expected = isRefused ? (isDefault ? "default branch" : "branch protected") : undefined;
    const words = JSON.stringify(answer.body);
    return compare(world, `refs/heads/${world.branch}`, expected, words, commits.base);
  },

  async "PATCH /branches/{branch}"(seed) {
    const world = await makeWorld(seed);
    const { branch, own, actor, repo } = world;
    const to = world.random.pick(["new", "rel/9", "trunk/1"]);
    const applied = world.appliedTo(branch);
    const isFixed = applied.some(
      (rule) => rule.name.toLowerCase() !== branch || rule.ownerId !== null,
    );
    const isGuarded = applied.length > 0 || branch === "main";
    const expected =
      isGuarded && !actor.isAdmin
        ? "must be a repo or site admin"
        : isFixed
          ? "glob-based"
          : world.expected(to, { kind: "create" });
    const answer = await call("PATCH", apiOf(repo, `branches/${branch}`), {
      as: actor.user,
      json: { name: to },
    });
    expect(answer.status, JSON.stringify(answer.body)).toBe(expected === undefined ? 204 : 403);
    await compare(
      world,
      `refs/heads/${branch}`,
      expected,
      JSON.stringify(answer.body),
      commits.base,
    );
    expect(await oidOf(repo, `refs/heads/${to}`)).toBe(
      expected === undefined ? commits.base : undefined,
    );
    const rows = await db
      .select()
      .from(branchProtections)
      .where(eq(branchProtections.repoId, repo.id))
      .orderBy(branchProtections.id);
    const [moved] = applied;
    // The rule follows, and no copy of it stays.
    const names = own.map((rule) =>
      expected === undefined && rule.id === moved?.id ? to : rule.name,
    );
    expect(rows.map(({ name }) => name)).toEqual(names);
    return expected;
  },
};

/** Tags: a rule that names the caller among those that match is enough. */
async function makeTagWorld(seed: number) {
  const random = randomOf(seed);
  const world = await makeWorld(seed);
  const { user, teamId } = world.actor;
  const patterns = random.chance(50) ? ["v*", "/^v[0-9]$/"] : ["*1", "/x/", "v?"];
  const rules = [];
  for (const namePattern of patterns) {
    rules.push(
      await makeTagRule(world.repo, {
        namePattern,
        userIds: random.chance(30) ? [user.id] : [0],
        teamIds: random.chance(30) ? [teamId] : [],
      }),
    );
  }
  const name = random.pick(["v1", "v12", "release/1", "xy", "other"]);
  const matching = rules.filter(({ namePattern }) =>
    namePattern.startsWith("/")
      ? new RegExp(namePattern.slice(1, -1)).test(name)
      : expressionOf(namePattern, "").test(name),
  );
  const isAllowed =
    matching.length === 0 ||
    matching.some(({ userIds, teamIds }) => userIds[0] === user.id || teamIds.length > 0);
  const ref = `refs/tags/${name}`;
  const exists = async () => storeRefs(world.repo, [{ ref, oid: commits.base }], commits.pack);
  const url = apiOf(world.repo, "tags");
  return { world, random, name, ref, exists, url, refused: isAllowed ? undefined : "protected" };
}

const TAG_WAYS: Record<string, WayIn> = {
  async "a push of a tag"(seed) {
    const { world, name, ref, exists, random, refused } = await makeTagWorld(seed);
    const way = random.pick(["create", "move", "delete"]);
    if (way !== "create") await exists();
    const command = {
      ...(way !== "create" && { old: commits.base }),
      ...(way !== "delete" && { new: commits.moves[0]?.forward ?? "" }),
    };
    return pushOne(world, ref, command, refused && `Tag ${name} is protected`);
  },
  async "POST /tags"(seed) {
    const { world, name, ref, url, random, refused } = await makeTagWorld(seed);
    const json = { tag_name: name, message: random.chance(50) ? "annotated" : "" };
    const answer = await call("POST", url, { as: world.actor.user, json });
    expect(answer.status).toBe(refused ? 422 : 201);
    return compare(world, ref, refused, JSON.stringify(answer.body), undefined);
  },
  async "DELETE /tags/{tag}"(seed) {
    const { world, name, ref, exists, url, refused } = await makeTagWorld(seed);
    await exists();
    const answer = await call("DELETE", `${url}/${name}`, { as: world.actor.user });
    expect(answer.status).toBe(refused ? 422 : 204);
    return compare(world, ref, refused, JSON.stringify(answer.body), commits.base);
  },
};

describe("generated rules and a model agree", { timeout: 120_000 }, () => {
  it.each(Object.entries({ ...WAYS, ...TAG_WAYS }))("on %s", async (name, way) => {
    const results = await runSeeds(name, way);
    // A way in that always or never succeeds would compare nothing.
    expect(results).toContain(undefined);
    expect(
      results.some((result) => result !== undefined),
      results.join(),
    ).toBe(true);
  });
});
