import { and, asc, eq } from "drizzle-orm";
import { beforeEach, describe, expect, it, vi } from "vitest";

import { ACCESS, events, issues, pulls, repositories } from "../../src/db/schema/index.ts";
import { only } from "../../src/lib/only.ts";
import { call } from "../support/call.ts";
import { History } from "../support/commits.ts";
import { drawConsequences } from "../support/consequences.ts";
import { db } from "../support/db.ts";
import { failCalls, failing, serveFailing } from "../support/faults.ts";
import { readAllObjects } from "../support/git.ts";
import { makeIssue } from "../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../support/make.ts";
import { type Command, filesOf, pushBody, pushCommands, refsOf } from "../support/push.ts";

const MAIN = "refs/heads/main";
const FOR = "refs/for/main";

function makeHistory() {
  const history = new History();
  const base = history.commit({ message: "base\n", files: { file: "base\n" } });
  const one = history.commit({ message: "One\n\nWhy.\n", parents: [base], files: { file: "1" } });
  const two = history.commit({ message: "Two\n", parents: [one], files: { file: "2" } });
  const other = history.commit({ message: "Other\n", parents: [base], files: { file: "o" } });
  return { base, one, two, other, pack: history.build() };
}
const { base, one, two, other, pack } = makeHistory();

const CAPABILITIES = "side-band-64k push-options report-status-v2";

let owner: TestUser;
let repo: TestRepo;
let reader: TestUser;

beforeEach(async () => {
  owner = await make.user();
  reader = await make.user();
  repo = await make.repo(owner);
  await pushCommands(owner, repo, [{ ref: MAIN, new: base }], { pack });
});

const send = async (
  commands: readonly Command[],
  options: string[] = [],
  as: TestUser = reader,
  capabilities = CAPABILITIES,
): Promise<string> =>
  String((await pushCommands(as, repo, commands, { pack, capabilities, options })).body);

const pullRows = async () =>
  db
    .select()
    .from(pulls)
    .innerJoin(issues, eq(issues.id, pulls.issueId))
    .where(eq(pulls.repoId, repo.id))
    .orderBy(asc(pulls.issueId));

const refOf = async (name: string) => (await refsOf(repo)).find((ref) => ref.name === name)?.oid;

const urlOf = (number: number): string =>
  `https://forge.example/${repo.owner}/${repo.name}/pulls/${number}`;

describe("a push to refs/for", () => {
  it("opens a pull request by a reader of the repository", async () => {
    const answer = await send([{ ref: FOR, new: one }], ["topic=fix"]);
    expect(answer).toContain("ok refs/for/main");
    expect(answer).toContain("option refname refs/pull/1/head");
    expect(answer).toContain(`option new-oid ${one}`);
    expect(answer).toContain(`\nVisit the existing pull request:\n  ${urlOf(1)}\n\n`);
    expect(await refOf("refs/pull/1/head")).toBe(one);
    await drawConsequences();
    const { body } = await call("GET", `/repos/${repo.owner}/${repo.name}/pulls/1`);
    expect(body).toMatchObject({
      title: "One",
      body: "Why.",
      user: { login: reader.name },
      mergeable: true,
      changed_files: 1,
      head: { label: `${reader.name}/fix`, ref: "refs/pull/1/head", sha: one, repo_id: repo.id },
      base: { label: "main", sha: base },
    });
    expect(await refOf("refs/pull/1/merge")).toBeDefined();
    expect((await refsOf(repo)).filter(({ name }) => name.startsWith("refs/heads/"))).toHaveLength(
      1,
    );
    await readAllObjects(repo);
  });

  it("takes the topic from the ref, and the texts from options", async () => {
    const text = "Größer\n\n- one\n- two";
    const encoded = Buffer.from(text).toString("base64");
    const options = ["title=  The title ", `description={base64}${encoded}`, "topic=ignored"];
    const answer = await send([{ ref: "refs/for/main/deep/topic", new: one }], options);
    expect(answer).toContain("ok refs/for/main/deep/topic");
    expect(only(await pullRows())).toMatchObject({
      pulls: { headBranch: `${reader.name.toLowerCase()}/deep/topic`, flow: "agit" },
      issues: { title: "The title", body: text },
    });
  });

  it("finds a base with slashes", async () => {
    const release = { ref: "refs/heads/release/1.0", new: base };
    await pushCommands(owner, repo, [release], { pack });
    await send([{ ref: "refs/for/release/1.0/fix", new: one }]);
    await send([{ ref: "refs/for/release/1.0", new: one }], ["topic=other"]);
    const found = (await pullRows()).map(({ pulls: each }) => [each.baseBranch, each.headBranch]);
    const name = reader.name.toLowerCase();
    expect(found).toEqual([
      ["release/1.0", `${name}/fix`],
      ["release/1.0", `${name}/other`],
    ]);
  });

  it("updates the pull request of the topic, and by force only where that is asked for", async () => {
    await send([{ ref: `${FOR}/fix`, new: one }]);
    const same = await send([{ ref: `${FOR}/fix`, new: one }]);
    expect(same).toContain("ng refs/for/main/fix new commit is same with old commit");
    const forward = await send([{ ref: `${FOR}/fix`, new: two }]);
    expect(forward).toContain("option refname refs/pull/1/head");
    expect(forward).toContain(`option old-oid ${one}`);
    expect(forward).toContain(urlOf(1));
    const refused = await send([{ ref: `${FOR}/fix`, new: other }]);
    expect(refused).toContain("ng refs/for/main/fix request `force-push` push option");
    expect(await refOf("refs/pull/1/head")).toBe(two);
    for (const option of ["force-push=false", "force-pushed"]) {
      expect(await send([{ ref: `${FOR}/fix`, new: other }], [option])).toContain("ng refs/for");
    }
    const forced = await send([{ ref: `${FOR}/fix`, new: other }], ["force-push"]);
    expect(forced).toContain("option forced-update");
    expect(await refOf("refs/pull/1/head")).toBe(other);
    await drawConsequences();
    expect(only(await pullRows()).pulls).toMatchObject({
      headOid: other,
      checkedHeadOid: other,
      mergeState: "mergeable",
    });
    const recorded = await db
      .select()
      .from(events)
      .where(and(eq(events.repoId, repo.id), eq(events.type, "pull.synchronized")));
    expect(recorded.map(({ payload }) => payload["isForced"])).toEqual([false, true]);
  });

  it("opens another one for another user, and after the first is closed", async () => {
    await send([{ ref: `${FOR}/fix`, new: one }]);
    await send([{ ref: `${FOR}/fix`, new: one }], [], owner);
    await call("PATCH", `/repos/${repo.owner}/${repo.name}/issues/1`, {
      as: reader,
      json: { state: "closed" },
    });
    await send([{ ref: `${FOR}/fix`, new: two }]);
    expect((await pullRows()).map(({ pulls: each }) => each.headOid)).toEqual([one, one, two]);
  });

  // SECURITY: a topic begins with the name of an account, which another one may have by now.
  it("does not update the pull request of an earlier user of the name", async () => {
    await send([{ ref: `${FOR}/fix`, new: one }], [], owner);
    const headBranch = `${reader.name.toLowerCase()}/fix`;
    await db.update(pulls).set({ headBranch }).where(eq(pulls.repoId, repo.id));
    const answer = await send([{ ref: `${FOR}/fix`, new: two }]);
    expect(answer).toContain("ng refs/for/main/fix User permission denied for writing.");
    expect(await refOf("refs/pull/1/head")).toBe(one);
  });

  it.each([
    ["refs/for/nothere/fix", "base-branch does not exist"],
    ["refs/for/main", "topic-branch is not set"],
    ["refs/for/main/", "funny refname"],
    ["refs/for/main/a..b", "funny refname"],
    ["refs/for-review/main/fix", "User permission denied for writing."],
    ["refs/heads/mine", "User permission denied for writing."],
    ["refs/tags/mine", "User permission denied for writing."],
    ["refs/notes/mine", "User permission denied for writing."],
    ["refs/pull/1/head", "User permission denied for writing."],
  ])("refuses %s of a reader: %s", async (ref, reason) => {
    const answer = await send([{ ref, new: one }]);
    expect(answer).toContain(`ng ${ref} ${reason}`);
    expect(await refsOf(repo)).toHaveLength(1);
    expect(await pullRows()).toEqual([]);
  });

  it("refuses deletions", async () => {
    expect(await send([{ ref: `${FOR}/fix`, old: one }])).toContain(
      "ng refs/for/main/fix Can't delete not exist branch",
    );
    expect(await send([{ ref: MAIN, old: base }])).toContain("ng refs/heads/main User permission");
    expect(await refOf(MAIN)).toBe(base);
  });

  // SECURITY: readers may begin any push.
  it("stores nothing of a push that a reader may not make", async () => {
    const before = await filesOf(repo);
    await send([{ ref: "refs/heads/mine", new: two }]);
    expect(await filesOf(repo)).toEqual(before);
  });

  it("applies what it may, unless the push is atomic", async () => {
    const commands = [
      { ref: "refs/heads/mine", new: one },
      { ref: `${FOR}/a`, new: one },
      { ref: `${FOR}/b`, new: two },
    ];
    const atomic = await send(commands, [], reader, `${CAPABILITIES} atomic`);
    expect(atomic).toContain("ng refs/heads/mine User permission denied for writing.");
    expect(atomic).toContain("ng refs/for/main/a atomic push failure");
    expect(await pullRows()).toEqual([]);
    const answer = await send(commands);
    expect(answer).toContain("ng refs/heads/mine User permission denied for writing.");
    expect(answer).toContain(urlOf(1));
    expect(answer).toContain(urlOf(2));
    const mixed = await send(commands, [], owner);
    expect(mixed).toContain("ok refs/heads/mine");
    expect(mixed).toContain("ng refs/for/main/a push pull requests without other refs");
  });

  it("is refused where there are no pull requests, nothing to build on, or a block", async () => {
    const path = `/repos/${repo.owner}/${repo.name}`;
    const empty = await make.repo(owner);
    const { body } = await pushCommands(reader, empty, [{ ref: `${FOR}/fix`, new: one }], { pack });
    expect(body).toContain("Can't create pull request for an empty repository.");
    await call("PUT", `/user/blocks/${reader.name}`, { as: owner });
    expect(await send([{ ref: `${FOR}/fix`, new: one }])).toContain("ng refs/for/main/fix");
    await vi.waitFor(async () => expect(await refOf("refs/pull/1/head")).toBeUndefined());
    await call("PATCH", path, { as: owner, json: { has_pull_requests: false } });
    expect(await send([{ ref: `${FOR}/fix`, new: one }], [], owner)).toContain(
      "ng refs/for/main/fix User permission denied for creating pull-request.",
    );
    expect(await pullRows()).toEqual([]);
  });

  // SECURITY: a token that is bound to refs opens pull requests by those alone.
  it("is refused for a token that is bound to other refs", async () => {
    const token = await make.token(owner, { repos: [repo], refs: ["refs/heads/**"] });
    const answer = await send([{ ref: `${FOR}/fix`, new: one }], [], { ...owner, token });
    expect(answer).toMatch(/ng refs\/for\/main\/fix (?!ok)/);
    expect(await pullRows()).toEqual([]);
  });

  it("takes the next number where another issue took its own", async () => {
    // The request reads the number before, and the issue is opened meanwhile.
    await db.update(repositories).set({ lastIssueNumber: 0 }).where(eq(repositories.id, repo.id));
    const push = send([{ ref: `${FOR}/fix`, new: one }]);
    await makeIssue(repo);
    expect(await push).toContain("ok refs/for/main/fix");
    const { issues: issue } = only(await pullRows());
    expect(await refOf(`refs/pull/${issue.number}/head`)).toBe(one);
    expect((await refsOf(repo)).filter(({ name }) => name.endsWith("/head"))).toHaveLength(1);
  });

  it("of a Worker that ends between two calls leaves no pull request without its head", async () => {
    const headers = {
      "Content-Type": "application/x-git-receive-pack-request",
      Authorization: `token ${reader.token}`,
    };
    const url = `http://x/${repo.owner}/${repo.name}.git/git-receive-pack`;
    let count = 0;
    const calls = await failCalls(async (fault) => {
      const faults = failing(fault);
      const commands = [{ ref: `${FOR}/t${count++}`, new: one }];
      const body = pushBody(commands, { pack });
      await serveFailing(new Request(url, { method: "POST", headers, body }), faults.bindings);
      await drawConsequences(undefined, Date.now() + 24 * 60 * 60 * 1000);
      for (const { issues: issue, pulls: pull } of await pullRows()) {
        expect(await refOf(`refs/pull/${issue.number}/head`)).toBe(pull.headOid);
      }
      return faults;
    });
    expect(calls).toBeGreaterThan(8);
    await readAllObjects(repo);
  }, 300_000);
});

describe("the hint after a push", () => {
  it("names the open pull request of the branch", async () => {
    const push = async (command: Command, as = owner, where: typeof repo = repo) =>
      String(
        (await pushCommands(as, where, [command], { pack, capabilities: "side-band-64k" })).body,
      );
    const first = await push({ ref: "refs/heads/fix", new: one });
    expect(first).toContain("\nCreate a new pull request for 'fix':\n");
    const path = `/repos/${repo.owner}/${repo.name}`;
    await call("POST", `${path}/pulls`, {
      as: owner,
      json: { title: "Fix", head: "fix", base: "main" },
    });
    const second = await push({ ref: "refs/heads/fix", old: one, new: two });
    expect(second).toContain(`\nVisit the existing pull request:\n  ${urlOf(1)}\n\n`);
    expect(second).not.toContain("Create");
  });

  it("leads from a fork to the repository that it was forked from", async () => {
    const path = `/repos/${repo.owner}/${repo.name}`;
    await call("POST", `${path}/forks`, { as: reader, json: {} });
    const fork = { owner: reader.name, name: repo.name };
    const push = async (command: Command) =>
      String(
        (await pushCommands(reader, fork, [command], { pack, capabilities: "side-band-64k" })).body,
      );
    const url = `https://forge.example/${repo.owner}/${repo.name}/pulls`;
    const first = await push({ ref: "refs/heads/fix", new: one });
    expect(first).toContain(
      `\nCreate a new pull request for '${reader.name}:fix':\n  ${url}/new/${reader.name}:fix\n`,
    );
    await call("POST", `${path}/pulls`, {
      as: reader,
      json: { title: "Fix", head: `${reader.name}:fix`, base: "main" },
    });
    const second = await push({ ref: "refs/heads/fix", old: one, new: two });
    expect(second).toContain(`Visit the existing pull request:\n  ${url}/1\n`);
  });

  it("is not given to a collaborator from whom pull requests are hidden", async () => {
    const writer = await make.user();
    await make.collaborator(repo, writer, ACCESS.write);
    await call("PATCH", `/repos/${repo.owner}/${repo.name}`, {
      as: owner,
      json: { has_pull_requests: false },
    });
    const { body } = await pushCommands(writer, repo, [{ ref: "refs/heads/x", new: one }], {
      pack,
      capabilities: "side-band-64k",
    });
    expect(body).not.toContain("pull request");
  });
});
