import { describe, expect, it } from "vitest";

import { type CommitStatus } from "../../../../src/db/schema/index.ts";
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

describe("webhook payloads", () => {
  it("describe a push", async () => {
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

  it("list the newest five commits of a push, and count all", async () => {
    const context = await makeOccasion();
    const commits = Array.from({ length: 10 }, (_, at) => makeCommit(20 - at));
    const payload = toPushPayload(context, { ...BRANCH, commits, total: 10_000 });
    expect(payload.commits.map(({ id }) => id)).toEqual([20, 19, 18, 17, 16].map(oidOf));
    expect(payload.total_commits).toBe(10_000);
  });

  it.each([
    ["the parent of its oldest new commit", { baseOid: oidOf(9) }, `${oidOf(9)}...${oidOf(2)}`],
    ["the default branch", {}, `main...${oidOf(2)}`],
  ])("compare a new branch with %s", async (_, base, range) => {
    const context = await makeOccasion();
    const pushed = { ...BRANCH, ref: "refs/heads/topic", before: null, ...base };
    const payload = toPushPayload(context, pushed);
    expect(payload.before).toBe(NULL_OID);
    expect(payload.compare_url.endsWith(`/compare/${range}`)).toBe(true);
  });

  it("describe a deleted tag without commits", async () => {
    const context = await makeOccasion();
    const deletion = { commits: [], total: 0, head: undefined, after: null };
    const payload = toPushPayload(context, { ...BRANCH, ...deletion, ref: "refs/tags/v1" });
    expect(payload).toMatchObject({
      ref: "refs/tags/v1",
      after: NULL_OID,
      commits: [],
      total_commits: 0,
      head_commit: null,
      compare_url: `${ROOT_URL}/`,
    });
  });

  // A commit may be as large as an object; its part of the payload is bounded.
  it("bound the size of each commit", async () => {
    const context = await makeOccasion();
    const files = Array.from({ length: 2000 }, (_, at) => ({
      path: `${"d/".repeat(100)}${at}`,
      status: "added" as const,
    }));
    const huge = makeCommit(2, { message: "x".repeat(1_000_000), files });
    const payload = toPushPayload(context, { ...BRANCH, commits: [huge], head: huge });
    expect(payload.head_commit?.added).toHaveLength(2000);
    // The size limit allows the files of one such commit only.
    expect(payload.commits[0]).toMatchObject({ added: null, removed: null, modified: null });
    expect(payload.commits[0]?.message).toBe("x".repeat(64 * 1024 - 2));
    const small = makeCommit(3);
    const next = toPushPayload(context, { ...BRANCH, commits: [huge, small], head: huge });
    expect(next.commits[1]?.added).toEqual(["new.txt"]);
  });

  // A row in D1 holds 2 MB, and one control character takes six bytes in JSON.
  it.each(["x", "\u0001", '"', "\u00e9", "\u20ac", "\u{1f600}", "\ud800"])(
    "bound the total size, if all texts consist of %j",
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

  it("describe created and deleted branches and tags by their short names", async () => {
    const context = await makeOccasion();
    const change = { ref: "refs/heads/a/b", before: null, after: oidOf(2) };
    const created = toCreatePayload(context, change);
    expect(formOf(created)).toEqual({
      sha: "string",
      ref: "string",
      ref_type: "string",
      repository: "object",
      sender: "object",
    });
    expect(created).toMatchObject({ sha: oidOf(2), ref: "a/b", ref_type: "branch" });

    const deletion = { ref: "refs/tags/v1", before: oidOf(2), after: null };
    const deleted = toDeletePayload(context, deletion);
    expect(formOf(deleted)).toEqual({
      ref: "string",
      ref_type: "string",
      pusher_type: "string",
      repository: "object",
      sender: "object",
    });
    expect(deleted).toMatchObject({ ref: "v1", ref_type: "tag", pusher_type: "user" });
  });

  it("describe a created repository", async () => {
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

  it("describe a fork with the source as the forkee", async () => {
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
    expect(payload.repository.parent).toMatchObject({ id: source.repo.row.id });
  });

  it("describe a commit status", async () => {
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

  // SECURITY: the readers at the receiver are unknown.
  it("show users as an anonymous caller sees them", async () => {
    const context = await makeOccasion({ owner: { isAdmin: true, loginName: "secret" } });
    const { sender, repository } = toRepositoryPayload(context, "created");
    for (const user of [sender, repository.owner]) {
      expect(user).toMatchObject({ is_admin: false, login_name: "" });
      expect(user.email).toBe(`${context.repo.owner.lowerName}@noreply.forge.example`);
    }
    expect(JSON.stringify(sender)).not.toContain("example.com");
  });

  it("show a ghost as the sender once the account was deleted", async () => {
    const context = { ...(await makeOccasion()), sender: undefined };
    const { sender } = toRepositoryPayload(context, "deleted");
    expect(formOf(sender)).toEqual(USER);
    expect(sender).toMatchObject({ id: -1, login: "Ghost" });
  });

  it("name the account of an author", async () => {
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
