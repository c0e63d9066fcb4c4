import { beforeAll, describe, expect, it } from "vitest";

import { parseConfig } from "../../../src/config.ts";
import type {
  ForeignFilter,
  ForeignItems,
  ForeignKind,
  ForgeReader,
} from "../../../src/forges/forge.ts";
import { openForge } from "../../../src/forges/open-forge.ts";
import { openOutgoing } from "../../../src/outgoing/open-outgoing.ts";
import {
  admin,
  type Caller,
  callApi,
  makeRepo,
  makeToken,
  makeUser,
  type Repo,
  serviceUrl,
} from "../support/forge.ts";

type Json = Record<string, unknown>;

const ALL: ForeignFilter = { includesIssues: true, includesPulls: true };
const NOBODY = { username: "", password: "" };

/** A reader of this very service. */
function open(repo: Repo, credentials: { username: string; password: string }): ForgeReader {
  const config = parseConfig({ ALLOWED_HOST_LIST: "loopback", DNS_RESOLVER_URL: "" });
  const access = { outgoing: openOutgoing(config, "", "Edgeforge"), now: () => Date.now() };
  const reader = openForge("gitea", access, { url: repo.url, ...credentials });
  if (!reader) throw new Error("no reader");
  return reader;
}

async function readAll<K extends ForeignKind>(
  reader: ForgeReader,
  kind: K,
  filter: ForeignFilter = ALL,
): Promise<ForeignItems[K][]> {
  const items: ForeignItems[K][] = [];
  let cursor: string | undefined;
  do {
    const page = await reader.readPage(kind, cursor, filter);
    items.push(...page.items);
    cursor = page.next;
  } while (cursor !== undefined);
  return items;
}

const ms = (time: unknown): number => Date.parse(String(time));
const idOf = (thing: Json | undefined): string => String(thing?.["id"]);
const ISSUES = 61;

/** A project with something of each kind. */
interface World {
  repo: Repo;
  friend: Caller;
  base: string;
  head: string;
  admin: { id: number; name: string };
  other: { id: number; name: string };
  made: Record<
    "bug" | "high" | "milestone" | "issue" | "comment" | "pull" | "review" | "release" | "asset",
    Json
  >;
}

async function makeWorld(): Promise<World> {
  const friend = await makeUser();
  const repo = await makeRepo(admin, { description: "To be read" });
  const { path } = repo;
  const call = (method: string, below: string, body?: object, caller = admin): Promise<Json> =>
    callApi(caller, method, `${path}${below}`, body);
  await call("PUT", `/collaborators/${friend.name}`, { permission: "write" });
  await call("PATCH", "", { website: "https://a.example" });
  await call("PUT", "/topics", { topics: ["forge", "reader"] });

  const created = await call("POST", "/contents/a.txt", {
    content: btoa("one\ntwo\nthree\n"),
    message: "Begin",
  });
  const changed = await call("PUT", "/contents/a.txt", {
    content: btoa("one\nzwei\nthree\n"),
    message: "Translate",
    sha: (created["content"] as Json)["sha"],
    new_branch: "feature",
  });
  await call("POST", "/contents/b.txt", {
    content: btoa("b\n"),
    message: "Add",
    new_branch: "merged",
  });
  const [base, head] = [created, changed].map((each) => String((each["commit"] as Json)["sha"]));
  if (!base || !head) throw new Error("no commits");

  const label = (body: object): Promise<Json> => call("POST", "/labels", body);
  const bug = await label({ name: "bug", color: "#ee0701", description: "Not a feature" });
  const high = await label({
    name: "prio/high",
    color: "00ff00",
    exclusive: true,
    is_archived: true,
  });
  const milestone = await call("POST", "/milestones", {
    title: "1.0 ☃",
    description: "All",
    due_on: "2030-01-31T00:00:00Z",
  });
  const issue = await call("POST", "/issues", {
    title: "Read me 🚀",
    body: `Hello @${friend.name}`,
    labels: [bug["id"], high["id"]],
    milestone: milestone["id"],
    assignees: [friend.name],
    due_date: "2030-01-31T00:00:00Z",
    ref: "refs/heads/feature",
  });
  await call("POST", "/issues/1/reactions", { content: "rocket" }, friend);
  const comment = await call("POST", "/issues/1/comments", { body: "A comment" }, friend);
  await call("POST", `/issues/comments/${idOf(comment)}/reactions`, { content: "eyes" });
  await call("PUT", "/issues/1/lock", { lock_reason: "off-topic" });
  await call("PATCH", "/issues/1", { state: "closed" });

  const pull = await call("POST", "/pulls", { title: "WIP: Zwei", head: "feature", base: "main" });
  const review = await call(
    "POST",
    "/pulls/2/reviews",
    {
      event: "REQUEST_CHANGES",
      body: "No",
      comments: [
        { path: "a.txt", body: "new side", new_position: 2 },
        { path: "a.txt", body: "old side", old_position: 2 },
      ],
    },
    friend,
  );
  const [first] = (await call(
    "GET",
    `/pulls/2/reviews/${idOf(review)}/comments`,
  )) as unknown as Json[];
  await call("POST", "/pulls/2/reviews", {
    event: "COMMENT",
    comments: [{ body: "an answer", in_reply_to: first?.["id"] }],
  });
  await call("POST", `/pulls/2/comments/${idOf(first)}/resolve`);
  await call("POST", `/pulls/2/reviews/${idOf(review)}/dismissals`, { message: "Yes" });
  await call("POST", "/pulls", { title: "To merge", head: "merged", base: "main" });
  await call("POST", "/pulls/3/merge", { Do: "merge" });

  for (let at = 4; at <= ISSUES; at++) await call("POST", "/issues", { title: `Issue ${at}` });

  const release = await call("POST", "/releases", {
    tag_name: "v1",
    target_commitish: base,
    name: "One",
    body: "Notes",
    prerelease: true,
  });
  const form = new FormData();
  form.set("attachment", new Blob(["contents"]), "file.txt");
  const authorization = `Basic ${btoa(`${admin.name}:${admin.password}`)}`;
  const uploaded = await fetch(`${serviceUrl}/api/v1${path}/releases/${idOf(release)}/assets`, {
    method: "POST",
    headers: { Authorization: authorization },
    body: form,
  });
  const asset = (await uploaded.json()) as Json;
  await call("POST", "/releases", { tag_name: "v2", draft: true });

  const account = async (name: string) => ({
    id: Number((await callApi(admin, "GET", `/users/${name}`))["id"]),
    name,
  });
  return {
    repo,
    friend,
    base,
    head,
    admin: await account(admin.name),
    other: await account(friend.name),
    made: { bug, high, milestone, issue, comment, pull, review, release, asset },
  };
}

describe("a project of this service, read by its own reader", () => {
  let world: World;
  let reader: ForgeReader;
  const at = (below: string): Promise<Json> => callApi(admin, "GET", `${world.repo.path}${below}`);

  beforeAll(async () => {
    world = await makeWorld();
    reader = open(world.repo, { username: admin.name, password: admin.password });
  });

  it("is described as it is", async () => {
    expect(await reader.readProject()).toEqual({
      description: "To be read",
      website: "https://a.example",
      topics: ["forge", "reader"],
      defaultBranch: "main",
      isPrivate: false,
      isArchived: false,
      cloneUrl: world.repo.url,
      htmlUrl: world.repo.url.replace(/\.git$/, ""),
      tracksIssues: true,
      takesPulls: true,
    });
  });

  it("has its labels and milestones", async () => {
    const { bug, high, milestone } = world.made;
    expect(await readAll(reader, "labels")).toEqual([
      {
        foreignId: idOf(bug),
        name: "bug",
        color: "ee0701",
        description: "Not a feature",
        isExclusive: false,
        isArchived: false,
      },
      {
        foreignId: idOf(high),
        name: "prio/high",
        color: "00ff00",
        description: "",
        isExclusive: true,
        isArchived: true,
      },
    ]);
    expect(await readAll(reader, "milestones")).toEqual([
      {
        foreignId: idOf(milestone),
        title: "1.0 ☃",
        description: "All",
        deadlineAt: ms(milestone["due_on"]),
        isClosed: false,
        closedAt: null,
        createdAt: ms(milestone["created_at"]),
        updatedAt: ms((await at(`/milestones/${idOf(milestone)}`))["updated_at"]),
      },
    ]);
  });

  it("has its issues", async () => {
    const { issue, bug, high, milestone } = world.made;
    const issues = await readAll(reader, "issues");
    const numbers = [1, ...Array.from({ length: ISSUES - 3 }, (_, index) => 4 + index)];
    expect(issues.map(({ number }) => number)).toEqual(numbers);
    const now = await at("/issues/1");
    expect(issues[0]).toEqual({
      kind: "issue",
      foreignId: `issue/${idOf(issue)}`,
      number: 1,
      poster: world.admin,
      title: "Read me 🚀",
      body: `Hello @${world.friend.name}`,
      ref: "refs/heads/feature",
      labelIds: [idOf(bug), idOf(high)],
      milestoneId: idOf(milestone),
      assignees: [world.other],
      reactions: [{ user: world.other, content: "rocket" }],
      isLocked: true,
      isClosed: true,
      closedAt: ms(now["closed_at"]),
      deadlineAt: ms(now["due_date"]),
      createdAt: ms(issue["created_at"]),
      updatedAt: ms(now["updated_at"]),
    });
  });

  it("has its pull requests", async () => {
    const { base, head, made, repo } = world;
    const [draft, merged, ...others] = await readAll(reader, "pulls");
    const repository = `${repo.owner}/${repo.name}`;
    const now = await at("/pulls/2");
    expect(draft).toEqual({
      kind: "pull",
      foreignId: `pull/${idOf(made.pull)}`,
      number: 2,
      poster: world.admin,
      title: "WIP: Zwei",
      body: "",
      ref: "",
      labelIds: [],
      milestoneId: null,
      assignees: [],
      reactions: [],
      isLocked: false,
      isClosed: false,
      closedAt: null,
      deadlineAt: null,
      createdAt: ms(made.pull["created_at"]),
      updatedAt: ms(now["updated_at"]),
      head: { branch: "feature", oid: head, repository },
      base: { branch: "main", oid: (now["base"] as Json)["sha"], repository },
      headRef: "refs/pull/2/head",
      mergeBaseOid: base,
      allowMaintainerEdit: now["allow_maintainer_edit"],
      mergedAt: null,
      merger: null,
      mergeCommitOid: "",
    });
    const third = await at("/pulls/3");
    expect(merged).toMatchObject({
      number: 3,
      isClosed: true,
      mergedAt: ms(third["merged_at"]),
      merger: world.admin,
      mergeCommitOid: third["merge_commit_sha"],
    });
    expect(others).toEqual([]);
  });

  it("has its comments", async () => {
    const { comment } = world.made;
    expect(await readAll(reader, "comments")).toEqual([
      {
        kind: "comment",
        foreignId: idOf(comment),
        number: 1,
        poster: world.other,
        body: "A comment",
        reactions: [{ user: world.admin, content: "eyes" }],
        createdAt: ms(comment["created_at"]),
        updatedAt: ms(comment["updated_at"]),
      },
    ]);
  });

  it("has its reviews, with comments on both sides", async () => {
    const { head, made } = world;
    const [rejection, answer] = await readAll(reader, "reviews");
    expect(rejection).toMatchObject({
      foreignId: idOf(made.review),
      number: 2,
      reviewer: world.other,
      state: "request_changes",
      isDismissed: true,
      isOfficial: made.review["official"],
      body: "No",
      commitOid: head,
      createdAt: ms(made.review["submitted_at"]),
      comments: [
        {
          answersId: "",
          body: "new side",
          path: "a.txt",
          line: 2,
          isOnOldSide: false,
          commitOid: head,
          hunk: expect.stringContaining("zwei"),
          isResolved: true,
        },
        { answersId: "", body: "old side", line: 2, isOnOldSide: true, isResolved: false },
      ],
    });
    const replies = [rejection, answer].flatMap((each) => each?.comments ?? []);
    const reply = replies.find(({ body }) => body === "an answer");
    expect(reply).toMatchObject({ poster: world.admin, line: 2, isOnOldSide: false });
    expect(reply?.answersId).toBe(rejection?.comments[0]?.foreignId);
  });

  it("has its releases and their assets", async () => {
    const { release, asset } = world.made;
    const [first, draft] = await readAll(reader, "releases");
    expect(first).toEqual({
      foreignId: idOf(release),
      tagName: "v1",
      target: world.base,
      title: "One",
      body: "Notes",
      isDraft: false,
      isPrerelease: true,
      publisher: world.admin,
      createdAt: ms(release["created_at"]),
      assets: [
        {
          foreignId: idOf(asset),
          name: "file.txt",
          sizeBytes: 8,
          downloadCount: 0,
          createdAt: ms(asset["created_at"]),
          url: asset["browser_download_url"],
        },
      ],
    });
    expect(draft).toMatchObject({ tagName: "v2", isDraft: true });
    const url = first?.assets[0]?.url ?? "";
    const file = await fetch(url, { headers: reader.headersFor(url) });
    expect(await file.text()).toBe("contents");
  });

  it("shows what has changed since a time", async () => {
    const filter = { ...ALL, since: Date.now() + 60_000 };
    for (const kind of ["issues", "pulls", "comments", "reviews"] as const) {
      expect(await readAll(reader, kind, filter), kind).toEqual([]);
    }
    const whole = { ...ALL, since: 1000 };
    expect(await readAll(reader, "issues", whole)).toHaveLength(ISSUES - 2);
    expect(await readAll(reader, "pulls", whole)).toHaveLength(2);
  });

  it("is read with a token, and hides drafts from a stranger", async () => {
    const token = await makeToken(admin, "read:repository", "read:issue");
    const byToken = open(world.repo, { username: "", password: token });
    expect(await readAll(byToken, "releases")).toHaveLength(2);
    expect(await readAll(byToken, "issues")).toHaveLength(ISSUES - 2);
    expect(await readAll(open(world.repo, NOBODY), "releases")).toHaveLength(1);
  });

  it("is not found by a stranger if it is private", async () => {
    const repo = await makeRepo(admin, { private: true });
    await expect(open(repo, NOBODY).readProject()).rejects.toMatchObject({ kind: "not_found" });
    const wrong = open(repo, { username: admin.name, password: "wrong" });
    await expect(wrong.readProject()).rejects.toMatchObject({ kind: "unauthorized" });
  });
});
