import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import {
  repositories,
  type Attachment,
  type Issue,
  type Label,
  type Milestone,
  type Review,
  type TimelineEntry,
} from "../../../src/db/schema/index.ts";
import type { IssueAction } from "../../../src/web/pages/issues/actions.ts";
import { Browser } from "../../support/browser.ts";
import { visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import {
  attachLabel,
  makeAttachment,
  makeComment,
  makeIssue,
  makeLabel,
  makeMilestone,
} from "../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { makeReadyPull, type ReadyPull } from "../../support/merges.ts";
import { makeRule } from "../../support/protections.ts";
import { makeCodeComment, makeReview, type TestCodeComment } from "../../support/pulls.ts";
import { refsOf } from "../../support/push.ts";
import { withoutQueueConsumer } from "../../support/queue-consumer.ts";
import { rowsOfRepository } from "../../support/rows-of-repository.ts";

// Every form of a conversation, sent by those who may not send it and where it may not be sent. Its
// refusal writes nothing; sent by the owner, the same form is taken.

/** A repository of the owner with an issue and a pull request. */
interface Scene {
  readonly repo: TestRepo;
  readonly path: string;
  readonly issue: Issue;
  readonly other: Issue;
  readonly comment: TimelineEntry;
  readonly file: Attachment;
  readonly label: Label;
  readonly milestone: Milestone;
  readonly ready: ReadyPull;
  /** A suggestion by the owner. */
  readonly suggestion: TestCodeComment;
  /** A review by a writer. */
  readonly approval: Review;
}

/** Who may send a form, besides those who may do more. */
type Sender = "readers" | "writers" | "administrators";

type Fields = Record<string, string>;

interface Example {
  by: Sender;
  on: "issue" | "pull";
  fields?: Fields | ((scene: Scene) => Fields);
  /** What it needs. */
  prepare?: (scene: Scene) => Promise<unknown>;
  /** The field of a long text. */
  text?: string;
  /** Whether an archive takes it, as by the API: subscriptions, and time that was spent. */
  isTakenInArchive?: boolean;
}

let owner: TestUser;
let writer: TestUser;
let reader: TestUser;
let blocked: TestUser;
const browsers = new Map<TestUser, Browser>();
beforeAll(async () => {
  [owner, writer, reader, blocked] = [
    await make.userWithPassword(),
    await make.userWithPassword(),
    await make.userWithPassword(),
    await make.userWithPassword(),
  ];
  for (const user of [owner, writer, reader, blocked]) {
    browsers.set(user, await Browser.signedIn(user));
  }
  await api("PUT", `/user/blocks/${blocked.name}`);
});

/** By each action, an example that the owner's own browser may send. */
const EXAMPLES: Readonly<Record<IssueAction, Example>> = {
  comment: { by: "readers", on: "issue", fields: { body: "A text", opened_at: "1" }, text: "body" },
  react: { by: "readers", on: "issue", fields: { add: "heart" } },
  labels: {
    by: "writers",
    on: "issue",
    fields: ({ label }) => ({ [`label-${label.id}`]: "on" }),
  },
  "edit-comment": {
    by: "writers",
    on: "issue",
    fields: ({ comment }) => ({
      comment: String(comment.id),
      body: "Another text",
      content_version: "0",
    }),
    text: "body",
  },
  "delete-comment": {
    by: "writers",
    on: "issue",
    fields: ({ comment }) => ({ comment: String(comment.id) }),
  },
  "rename-file": {
    by: "writers",
    on: "issue",
    fields: ({ file }) => ({ file: String(file.id), name: "another.txt" }),
  },
  "delete-file": {
    by: "writers",
    on: "issue",
    fields: ({ file }) => ({ file: String(file.id) }),
  },
  title: { by: "writers", on: "issue", fields: { title: "Another title" }, text: "title" },
  "edit-body": {
    by: "writers",
    on: "issue",
    fields: { body: "Another text", content_version: "0" },
    text: "body",
  },
  assignees: { by: "writers", on: "issue", fields: () => ({ [`user-${owner.name}`]: "on" }) },
  milestone: {
    by: "writers",
    on: "issue",
    fields: ({ milestone }) => ({ id: String(milestone.id) }),
  },
  deadline: { by: "writers", on: "issue", fields: { date: "2030-01-31" } },
  estimate: { by: "writers", on: "issue", fields: { duration: "1h" } },
  subscribe: { by: "readers", on: "issue", isTakenInArchive: true },
  unsubscribe: { by: "readers", on: "issue", isTakenInArchive: true },
  lock: { by: "administrators", on: "issue", fields: { reason: "Loud" } },
  unlock: {
    by: "administrators",
    on: "issue",
    prepare: ({ path, issue }) => api("PUT", `/repos${path}/issues/${issue.number}/lock`, {}),
  },
  pin: { by: "administrators", on: "issue" },
  unpin: {
    by: "administrators",
    on: "issue",
    prepare: ({ path, issue }) => api("POST", `/repos${path}/issues/${issue.number}/pin`),
  },
  delete: { by: "administrators", on: "issue" },
  "add-dependency": {
    by: "writers",
    on: "issue",
    fields: ({ other }) => ({ issue: String(other.number) }),
  },
  "remove-dependency": {
    by: "writers",
    on: "issue",
    fields: ({ other }) => ({ issue: String(other.number) }),
    prepare: ({ path, issue, other, repo }) =>
      api("POST", `/repos${path}/issues/${issue.number}/dependencies`, {
        owner: repo.owner,
        repo: repo.name,
        index: other.number,
      }),
  },
  "start-stopwatch": { by: "writers", on: "issue", isTakenInArchive: true },
  "stop-stopwatch": { by: "writers", on: "issue", prepare: startStopwatch, isTakenInArchive: true },
  "cancel-stopwatch": {
    by: "writers",
    on: "issue",
    prepare: startStopwatch,
    isTakenInArchive: true,
  },
  "add-time": { by: "writers", on: "issue", fields: { duration: "1h" }, isTakenInArchive: true },
  merge: { by: "writers", on: "pull", fields: mergeFields },
  review: {
    by: "readers",
    on: "pull",
    fields: ({ ready }) => ({ head: ready.headOid, state: "comment", body: "A text" }),
    text: "body",
  },
  "code-comment": {
    by: "readers",
    on: "pull",
    fields: ({ ready }) => ({
      opened_at: "1",
      head: ready.headOid,
      replied: "0",
      path: "topic",
      side: "R",
      line: "1",
      start_line: "1",
      body: "A text",
      when: "now",
    }),
    text: "body",
  },
  code: {
    by: "writers",
    on: "pull",
    fields: ({ suggestion }) => ({ resolve: String(suggestion.id) }),
  },
  "apply-suggestions": {
    by: "writers",
    on: "pull",
    fields: ({ suggestion }) => ({ [`suggestion-${suggestion.id}`]: "on", message: "" }),
    text: "message",
  },
  "discard-review": {
    by: "readers",
    on: "pull",
    prepare: ({ ready }) => makeReview(ready.pull, { state: "pending" }),
  },
  "request-reviews": {
    by: "writers",
    on: "pull",
    fields: () => ({ [`user-${writer.name}`]: "on" }),
    text: "other",
  },
  "withdraw-requests": {
    by: "writers",
    on: "pull",
    fields: () => ({ [`user-${writer.name}`]: "on" }),
    prepare: (scene) => taken(scene, "request-reviews", { [`user-${writer.name}`]: "on" }),
  },
  "dismiss-review": {
    by: "administrators",
    on: "pull",
    fields: ({ approval }) => ({ review: String(approval.id), message: "Too early" }),
    text: "message",
  },
  "view-file": {
    by: "readers",
    on: "pull",
    fields: ({ ready }) => ({ view: `${ready.headOid} topic` }),
    isTakenInArchive: true,
  },
  "cancel-merge": {
    by: "writers",
    on: "pull",
    prepare: async (scene) => {
      await makeRule(scene.repo, { name: "main", settings: { requiredApprovals: 1 } });
      await taken(scene, "merge", { ...mergeFields(scene), when: "ready" });
    },
  },
  dequeue: {
    by: "writers",
    on: "pull",
    prepare: async (scene) => {
      const settings = { isMergeQueueEnabled: true, isStatusCheckEnabled: true };
      await makeRule(scene.repo, { name: "main", settings });
      await taken(scene, "merge", mergeFields(scene));
    },
  },
  update: { by: "writers", on: "pull", fields: { style: "merge" } },
  "delete-branch": {
    by: "writers",
    on: "pull",
    prepare: (scene) => taken(scene, "merge", mergeFields(scene)),
  },
  "restore-branch": {
    by: "writers",
    on: "pull",
    prepare: (scene) => taken(scene, "merge", { ...mergeFields(scene), delete_branch: "on" }),
  },
  revert: {
    by: "writers",
    on: "pull",
    prepare: (scene) => taken(scene, "merge", mergeFields(scene)),
  },
};

function mergeFields({ ready }: Scene): Fields {
  return { head: ready.headOid, style: "merge", title: "Merged", message: "" };
}

function startStopwatch({ path, issue }: Scene): Promise<unknown> {
  return api("POST", `/repos${path}/issues/${issue.number}/stopwatch/start`);
}

async function api(method: string, path: string, json?: object): Promise<void> {
  const { status, body } = await visit(method, `/api/v1${path}`, {
    as: owner,
    ...(json && { json }),
  });
  expect(status, JSON.stringify(body)).toBeLessThan(300);
}

async function makeScene(): Promise<Scene> {
  const base = [{ a: "1\n2\n3\n4\n5\n6\n7\n8\n9\n", base: "new\n" }];
  const ready = await makeReadyPull({ owner, base });
  const { repo } = ready;
  await make.collaborator(repo, writer, 2);
  const issue = await makeIssue(repo, { body: "A text" });
  const label = await makeLabel({ repo });
  await attachLabel(issue, await makeLabel({ repo }));
  const review = await makeReview(ready.pull, { state: "comment" });
  const body = "```suggestion\nAnother topic\n```";
  const suggestion = await makeCodeComment(ready.pull, review, { path: "topic" }, { body });
  return {
    suggestion,
    approval: await makeReview(ready.pull, { reviewerId: writer.id }),
    repo,
    path: `/${repo.owner}/${repo.name}`,
    issue,
    other: await makeIssue(repo),
    comment: await makeComment(issue),
    file: await makeAttachment(issue),
    label,
    milestone: await makeMilestone(repo),
    ready,
  };
}

const pathOf = ({ path, issue, ready }: Scene, on: Example["on"]): string =>
  on === "issue" ? `${path}/issues/${issue.number}` : `${path}/pulls/${ready.pull.number}`;

const fieldsOf = ({ fields = {} }: Example, scene: Scene): Fields =>
  typeof fields === "function" ? fields(scene) : fields;

/** The token of the forms of a user's session. */
async function tokenOf(user: TestUser): Promise<string> {
  const { body } = await browserOf(user).get("/notifications");
  return /name="_csrf" value="([^"]*)"/.exec(String(body))?.[1] ?? "";
}

const browserOf = (user: TestUser): Browser => browsers.get(user) as Browser;

const send = async (user: TestUser, at: string, fields: Fields) =>
  browserOf(user).post(at, { _csrf: await tokenOf(user), ...fields });

/** Sends a form of a pull request by the owner, which must be taken. */
async function taken(scene: Scene, action: string, fields: Fields): Promise<void> {
  const { status, body } = await send(owner, pathOf(scene, "pull"), { action, ...fields });
  expect(status, String(body)).toBe(303);
}

/** What a form may change: rows of the repository, and its refs. */
const stateOf = async ({ repo }: Scene) => ({
  rows: await rowsOfRepository(repo.id),
  refs: await refsOf(repo),
});

/** Longer than what any field of a form takes. */
const LONG = "long ".repeat(60_000);

/** A sending that must be refused, by what is wrong with it. */
type Refused = (
  scene: Scene,
  at: string,
  fields: Fields,
) => Promise<{ status: number; body: unknown }>;

/** How an action's form may not be sent. */
function refusalsOf(action: IssueAction): Record<string, Refused> {
  const { by, text, isTakenInArchive = false } = EXAMPLES[action];
  const from =
    (user: () => TestUser): Refused =>
    (_, at, fields) =>
      send(user(), at, fields);
  const inArchive: Refused = async ({ repo }, at, fields) => {
    const archive = (archivedAt: number | null) =>
      db.update(repositories).set({ archivedAt }).where(eq(repositories.id, repo.id));
    await archive(1000);
    try {
      return await send(owner, at, fields);
    } finally {
      await archive(null);
    }
  };
  return {
    "signed out": (_, at, fields) => new Browser().post(at, fields),
    "with the token of another session": async (_, at, fields) =>
      browserOf(owner).post(at, { _csrf: await tokenOf(reader), ...fields }),
    "from another site": async (_, at, fields) =>
      browserOf(owner).post(
        at,
        { _csrf: await tokenOf(owner), ...fields },
        { Origin: "https://elsewhere.example", "Sec-Fetch-Site": "cross-site" },
      ),
    "of what is not there": (scene, at, fields) => send(owner, at.replace(/\d+$/, "9999"), fields),
    ...(by !== "readers" && { "by a reader": from(() => reader) }),
    ...(by === "administrators" && { "by a writer": from(() => writer) }),
    ...(!isTakenInArchive && { "in an archive": inArchive }),
    ...(text !== undefined && {
      "with too long a text": (_, at, fields) => send(owner, at, { ...fields, [text]: LONG }),
    }),
    ...(["comment", "react", "review", "code-comment"].includes(action) && {
      "by somebody who is blocked": from(() => blocked),
    }),
  };
}

/** Expects that a page shows the text of a refused form. */
function expectKept(page: unknown, { text = "" }: Example, fields: Fields, name: string): void {
  const typed = fields[text] ?? "";
  if (typed === "") return;
  const shown = [`${typed}</textarea>`, `value="${typed}"`];
  expect(
    shown.some((each) => String(page).includes(each)),
    name,
  ).toBe(true);
}

const ACTIONS = Object.keys(EXAMPLES) as IssueAction[];

describe("a form of a conversation", () => {
  it.each(ACTIONS)("that sends %s is refused without a trace", (action) =>
    withoutQueueConsumer(async () => {
      const example = EXAMPLES[action];
      const scene = await makeScene();
      await example.prepare?.(scene);
      const at = pathOf(scene, example.on);
      const fields = { action, ...fieldsOf(example, scene) };
      for (const [name, refused] of Object.entries(refusalsOf(action))) {
        const before = await stateOf(scene);
        const { status, body } = await refused(scene, at, fields);
        expect(status, name).toBeGreaterThanOrEqual(400);
        expect(status, name).toBeLessThan(500);
        if (name !== "with too long a text") expectKept(body, example, fields, name);
        expect(await stateOf(scene), name).toEqual(before);
      }
      const answer = await send(owner, at, fields);
      expect(answer.status, String(answer.body)).toBe(303);
    }),
  );

  it("is refused where the unit is off", () =>
    withoutQueueConsumer(async () => {
      const scene = await makeScene();
      await api("PATCH", `/repos${scene.path}`, { has_issues: false, has_pull_requests: false });
      const before = await stateOf(scene);
      for (const action of ACTIONS) {
        const example = EXAMPLES[action];
        const fields = { action, ...fieldsOf(example, scene) };
        const { status } = await send(writer, pathOf(scene, example.on), fields);
        expect(status, action).toBe(404);
      }
      expect(await stateOf(scene)).toEqual(before);
    }));

  it("that is sent from the page of files keeps its text where it may not be sent", () =>
    withoutQueueConsumer(async () => {
      const scene = await makeScene();
      const { ready, suggestion, path } = scene;
      const at = `${pathOf(scene, "pull")}/files`;
      const reply = {
        ...fieldsOf(EXAMPLES["code-comment"], scene),
        replied: String(suggestion.id),
      };
      const edit = { comment: String(suggestion.id), body: "A text", content_version: "0" };
      const forms = [
        { action: "review", ...fieldsOf(EXAMPLES.review, scene) },
        { action: "code-comment", ...fieldsOf(EXAMPLES["code-comment"], scene) },
        { action: "code-comment", ...reply },
        { action: "edit-comment", ...edit },
      ];
      await api("PUT", `/repos${path}/issues/${ready.pull.number}/lock`, {});
      const before = await stateOf(scene);
      const refuse = async (user: TestUser, status: number) => {
        for (const place of [at, pathOf(scene, "pull")]) {
          for (const fields of forms) {
            const answer = await send(user, place, fields);
            expect(answer.status, fields.action).toBe(status);
            expectKept(answer.body, { by: "readers", on: "pull", text: "body" }, fields, place);
          }
        }
      };
      await refuse(reader, 403);
      expect(await stateOf(scene)).toEqual(before);
      await db
        .update(repositories)
        .set({ archivedAt: 1000 })
        .where(eq(repositories.id, scene.repo.id));
      const archived = await stateOf(scene);
      await refuse(owner, 423);
      expect(await stateOf(scene)).toEqual(archived);
    }));

  it("is refused to readers where the conversation is locked", () =>
    withoutQueueConsumer(async () => {
      const scene = await makeScene();
      for (const at of [scene.issue, scene.ready.pull]) {
        await api("PUT", `/repos${scene.path}/issues/${at.number}/lock`, {});
      }
      const before = await stateOf(scene);
      for (const action of ["comment", "react", "review", "code-comment"] as const) {
        const example = EXAMPLES[action];
        const fields = { action, ...fieldsOf(example, scene) };
        const { status } = await send(reader, pathOf(scene, example.on), fields);
        expect(status, action).toBe(403);
      }
      expect(await stateOf(scene)).toEqual(before);
    }));
});
