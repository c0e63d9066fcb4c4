import { describe, expect, it } from "vitest";

import { type CommitStatus } from "../../../../src/db/schema/index.ts";
import { toIssuePayload } from "../../../../src/events/webhooks/payloads/issue-payload.ts";
import {
  type Pushed,
  toPushPayload,
} from "../../../../src/events/webhooks/payloads/push-payload.ts";
import {
  toCreatePayload,
  toDeletePayload,
} from "../../../../src/events/webhooks/payloads/ref-payload.ts";
import {
  toForkPayload,
  toRepositoryPayload,
} from "../../../../src/events/webhooks/payloads/repository-payload.ts";
import { toStatusPayload } from "../../../../src/events/webhooks/payloads/status-payload.ts";
import { encodeUtf8 } from "../../../../src/git/byte-text.ts";
import { NULL_OID } from "../../../../src/git/oid.ts";
import { make } from "../../../support/make.ts";
import { makeCommit, makeOccasion, oidOf, ROOT_URL } from "../../../support/payload-contexts.ts";
import { COMMIT, COMMIT_USER, formOf, REPOSITORY, USER } from "../../../support/payload-forms.ts";

const BRANCH: Pushed = {
  ref: "refs/heads/main",
  before: oidOf(1),
  after: oidOf(2),
  commits: [makeCommit(2)],
  total: 1,
  head: makeCommit(2),
};

describe("payloads of hooks", () => {
  it("tells a push", async () => {
    const context = await makeOccasion();
    const payload = toPushPayload(context, BRANCH);
    expect(formOf(payload)).toEqual({
      ref: "string",
      before: "string",
      after: "string",
      compare_url: "string",
      commits: "array",
      total_commits: "number",
      head_commit: "object",
      repository: "object",
      pusher: "object",
      sender: "object",
    });
    expect(formOf(payload.repository)).toEqual(REPOSITORY);
    expect(formOf(payload.repository.owner)).toEqual(USER);
    expect(formOf(payload.sender)).toEqual(USER);
    expect(payload.commits.map(formOf)).toEqual([COMMIT]);
    expect(formOf(payload.commits[0]?.author ?? {})).toEqual(COMMIT_USER);
    expect(payload.commits[0]).toMatchObject({
      added: ["new.txt"],
      removed: ["old.txt"],
      modified: ["same.txt"],
    });
    const { row, owner } = context.repo;
    expect(payload).toMatchObject({
      ref: "refs/heads/main",
      compare_url: `${ROOT_URL}/${owner.name}/${row.name}/compare/${oidOf(1)}...${oidOf(2)}`,
      repository: { permissions: { admin: true, push: true, pull: true } },
    });
  });

  it("lists the newest five commits of a push, and counts all", async () => {
    const context = await makeOccasion();
    const commits = Array.from({ length: 10 }, (_, at) => makeCommit(20 - at));
    const payload = toPushPayload(context, { ...BRANCH, commits, total: 10_000 });
    expect(payload.commits.map(({ id }) => id)).toEqual([20, 19, 18, 17, 16].map(oidOf));
    expect(payload.total_commits).toBe(10_000);
  });

  it.each([
    ["what the new commits stand on", { baseOid: oidOf(9) }, `${oidOf(9)}...${oidOf(2)}`],
    ["the default branch", {}, `main...${oidOf(2)}`],
  ])("compares a new branch with %s", async (_, base, range) => {
    const context = await makeOccasion();
    const pushed = { ...BRANCH, ref: "refs/heads/topic", before: null, ...base };
    const payload = toPushPayload(context, pushed);
    expect(payload.before).toBe(NULL_OID);
    expect(payload.compare_url.endsWith(`/compare/${range}`)).toBe(true);
  });

  it("tells a tag that is gone without any commit", async () => {
    const context = await makeOccasion();
    const gone = { commits: [], total: 0, head: undefined, after: null };
    const payload = toPushPayload(context, { ...BRANCH, ...gone, ref: "refs/tags/v1" });
    expect(payload).toMatchObject({
      ref: "refs/tags/v1",
      after: NULL_OID,
      commits: [],
      total_commits: 0,
      head_commit: null,
      compare_url: `${ROOT_URL}/`,
    });
  });

  // A commit can be as large as an object: what a push tells of it can not.
  it("bounds what it tells of one commit", async () => {
    const context = await makeOccasion();
    const files = Array.from({ length: 2000 }, (_, at) => ({
      path: `${"d/".repeat(100)}${at}`,
      status: "added" as const,
    }));
    const huge = makeCommit(2, { message: "x".repeat(1_000_000), files });
    const told = toPushPayload(context, { ...BRANCH, commits: [huge], head: huge });
    expect(told.head_commit?.added).toHaveLength(2000);
    // There is room for the files of one such commit.
    expect(told.commits[0]).toMatchObject({ added: null, removed: null, modified: null });
    expect(told.commits[0]?.message).toBe("x".repeat(64 * 1024 - 2));
    const small = makeCommit(3);
    const next = toPushPayload(context, { ...BRANCH, commits: [huge, small], head: huge });
    expect(next.commits[1]?.added).toEqual(["new.txt"]);
  });

  // A row of the database holds 2 MB, and one control character is six bytes of JSON.
  it.each(["x", "\u0001", '"', "\u00e9", "\u20ac", "\u{1f600}", "\ud800"])(
    "bounds what it tells altogether, of whatever is made of %j",
    async (character) => {
      const long = character.repeat(300_000);
      const context = await makeOccasion({
        owner: { fullName: character.repeat(100) },
        repo: { description: character.repeat(2048), website: character.repeat(1024) },
      });
      const files = Array.from({ length: 3000 }, (_, at) => ({
        path: `${at}${character.repeat(30)}`,
        status: "modified" as const,
      }));
      const huge = makeCommit(2, { message: long, authorName: long, files });
      const commits = [huge, huge, huge, huge, huge];
      const payload = toPushPayload(context, { ...BRANCH, commits, total: 5, head: huge });
      expect(payload.commits).toHaveLength(5);
      expect(payload.head_commit?.modified).toHaveLength(3000);
      const bytes = encodeUtf8(JSON.stringify(payload)).length;
      expect(bytes).toBeLessThan(1_300_000);
      expect(bytes).toBeGreaterThan(450_000);
    },
  );

  it("tells branches and tags that come and go by their short names", async () => {
    const context = await makeOccasion();
    const moved = { ref: "refs/heads/a/b", before: null, after: oidOf(2) };
    const created = toCreatePayload(context, moved);
    expect(formOf(created)).toEqual({
      sha: "string",
      ref: "string",
      ref_type: "string",
      repository: "object",
      sender: "object",
    });
    expect(created).toMatchObject({ sha: oidOf(2), ref: "a/b", ref_type: "branch" });

    const gone = { ref: "refs/tags/v1", before: oidOf(2), after: null };
    const deleted = toDeletePayload(context, gone);
    expect(formOf(deleted)).toEqual({
      ref: "string",
      ref_type: "string",
      pusher_type: "string",
      repository: "object",
      sender: "object",
    });
    expect(deleted).toMatchObject({ ref: "v1", ref_type: "tag", pusher_type: "user" });
  });

  it("tells repositories that come and go", async () => {
    const payload = toRepositoryPayload(await makeOccasion(), "created");
    expect(formOf(payload)).toEqual({
      action: "string",
      repository: "object",
      organization: "object",
      sender: "object",
    });
    expect(formOf(payload.repository)).toEqual(REPOSITORY);
    expect(formOf(payload.organization)).toEqual(USER);
  });

  it("tells a fork with the source as the forkee", async () => {
    const source = await makeOccasion();
    const { repo: fork } = await makeOccasion();
    const payload = toForkPayload(source, fork);
    expect(formOf(payload)).toEqual({
      forkee: "object",
      repository: "object",
      sender: "object",
    });
    expect(payload.forkee.id).toBe(source.repo.row.id);
    expect(payload.repository.id).toBe(fork.row.id);
  });

  it("tells what a check says", async () => {
    const context = await makeOccasion();
    const status: CommitStatus = {
      id: 31,
      repoId: context.repo.row.id,
      commitOid: oidOf(2),
      number: 1,
      state: "success",
      context: "ci/test",
      description: "All went well",
      targetUrl: "https://ci.example/1",
      creatorId: null,
      createdAt: 1_700_000_000_000,
    };
    const payload = toStatusPayload(context, status, makeCommit(2));
    expect(formOf(payload)).toEqual({
      commit: "object",
      context: "string",
      created_at: "string",
      description: "string",
      id: "number",
      repository: "object",
      sender: "object",
      sha: "string",
      state: "string",
      target_url: "string",
      updated_at: "string",
    });
    expect(formOf(payload.commit)).toEqual(COMMIT);
    expect(payload).toMatchObject({ id: 31, created_at: "2023-11-14T22:13:20Z" });
  });

  it.each([
    ["by somebody", undefined, ""],
    ["by a commit", oidOf(5), oidOf(5)],
  ])("tells an issue that is closed %s", async (_, commitOid, commitId) => {
    const payload = toIssuePayload(await makeOccasion(), "closed", { number: 4 }, commitOid);
    expect(formOf(payload)).toEqual({
      action: "string",
      number: "number",
      issue: "object",
      repository: "object",
      sender: "object",
      commit_id: "string",
    });
    expect(payload).toMatchObject({ action: "closed", number: 4, commit_id: commitId });
  });

  // Nobody knows who reads at the other end.
  it("shows users as everybody sees them", async () => {
    const context = await makeOccasion({ owner: { isAdmin: true, loginName: "secret" } });
    const { sender, repository } = toRepositoryPayload(context, "created");
    for (const user of [sender, repository.owner]) {
      expect(user).toMatchObject({ is_admin: false, login_name: "" });
      expect(user.email).toBe(`${context.repo.owner.lowerName}@noreply.forge.example`);
    }
    expect(JSON.stringify(sender)).not.toContain("example.com");
  });

  it("tells who did it once the account is gone", async () => {
    const occasion = { ...(await makeOccasion()), sender: undefined };
    const { sender } = toRepositoryPayload(occasion, "deleted");
    expect(formOf(sender)).toEqual(USER);
    expect(sender).toMatchObject({ id: -1, login: "Ghost" });
  });

  it("names the account of an author", async () => {
    const author = await make.user();
    const context = await makeOccasion();
    const commit = { ...makeCommit(2), author };
    const payload = toPushPayload(context, { ...BRANCH, commits: [commit] });
    expect(payload.commits[0]?.author).toEqual({
      name: "Ada",
      email: "ada@example.com",
      username: author.name,
    });
  });
});
