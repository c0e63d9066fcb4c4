import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { call } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { openReceiver } from "../../support/deliveries.ts";
import { freshName, make, type TestRepo, type TestUser } from "../../support/make.ts";
import { deepFormOf, DEEP_COMMIT, DEEP_REPOSITORY, USER } from "../../support/payload-forms.ts";
import { type Command, makeEmptyPack, NULL, pushCommands } from "../../support/push.ts";
import { makeTag } from "../../support/tag.ts";

/** All events that have payloads so far. */
const EVENTS = ["create", "delete", "fork", "push", "repository", "status"];

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** A delivery of any event. */
interface ReceivedDelivery {
  event: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- payloads have a different form for each event
  body: any;
}

/** Makes a user with a webhook for all events of their repositories. */
async function makeSubscriber() {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const receiver = openReceiver("200");
  const hook = {
    type: "gitea",
    config: { url: receiver.url, content_type: "json" },
    events: EVENTS,
    active: true,
  };
  expect((await call("POST", "/user/hooks", { as: owner, json: hook })).status).toBe(201);
  return { owner, repo, deliveries: (count: number) => readDeliveries(receiver, count, "user") };
}

/**
 * Waits until the receiver has a number of deliveries, and returns them in order; checks their
 * headers.
 */
async function readDeliveries(
  { received }: ReturnType<typeof openReceiver>,
  count: number,
  level: string,
): Promise<ReceivedDelivery[]> {
  const list = await vi.waitFor(
    async () => {
      const requests = await received();
      expect(requests.length).toBeGreaterThanOrEqual(count);
      return requests;
    },
    { timeout: 15_000, interval: 100 },
  );
  expect(list).toHaveLength(count);
  return list.map(({ method, headers, body }) => {
    const event = headers["x-gitea-event"] ?? "";
    expect(method).toBe("POST");
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "x-gitea-event-type": event,
      "x-gogs-event": event,
      "x-gogs-event-type": event,
      "x-github-event": event,
      "x-github-event-type": event,
      "x-gitea-delivery": expect.stringMatching(UUID),
      "x-gogs-delivery": headers["x-gitea-delivery"],
      "x-github-delivery": headers["x-gitea-delivery"],
      "x-gitea-hook-installation-target-type": level,
      "x-github-hook-installation-target-type": level,
      // Present, and empty without a secret.
      "x-gitea-signature": "",
      "x-gogs-signature": "",
      "x-hub-signature": "sha1=",
      "x-hub-signature-256": "sha256=",
    });
    expect(headers).not.toHaveProperty("authorization");
    const parsed: unknown = JSON.parse(body);
    expect(body).toBe(JSON.stringify(parsed, null, 2));
    return { event, body: parsed };
  });
}

const PUSH = {
  ref: "string",
  before: "string",
  after: "string",
  compare_url: "string",
  commits: [DEEP_COMMIT],
  total_commits: "number",
  head_commit: DEEP_COMMIT,
  repository: DEEP_REPOSITORY,
  pusher: USER,
  sender: USER,
};
const NO_COMMITS = { commits: "array" };
const CREATE = {
  sha: "string",
  ref: "string",
  ref_type: "string",
  repository: DEEP_REPOSITORY,
  sender: USER,
};
const DELETE = {
  ref: "string",
  ref_type: "string",
  pusher_type: "string",
  repository: DEEP_REPOSITORY,
  sender: USER,
};

/** Makes two commits; the second adds, removes and modifies a file. */
function makeTwoCommits() {
  const history = new History();
  const first = history.commit({ files: { kept: "1\n", gone: "1\n" }, message: "First" });
  const second = history.commit({
    files: { kept: "2\n", "new/ü": "1\n" },
    parents: [first],
    message: "Second\n\nwith a body\n",
  });
  return { first, second, pack: history.build() };
}

/** Pushes, and expects that nothing is refused. */
async function pushAccepted(
  owner: TestUser,
  repo: TestRepo,
  commands: readonly Command[],
  pack?: Uint8Array,
): Promise<void> {
  const answer = await pushCommands(owner, repo, commands, pack ? { pack } : {});
  expect(answer.status).toBe(200);
  expect(String(answer.body)).not.toContain("ng refs/");
}

describe("a receiver", () => {
  it("gets the branch of a first push, then its commits, newest first", async () => {
    const { owner, repo, deliveries } = await makeSubscriber();
    const { first, second, pack } = makeTwoCommits();
    await pushAccepted(owner, repo, [{ ref: "refs/heads/main", new: second }], pack);

    const [create, push] = await deliveries(2);
    expect(create?.event).toBe("create");
    expect(deepFormOf(create?.body)).toEqual(CREATE);
    expect(create?.body).toMatchObject({ sha: second, ref: "main", ref_type: "branch" });
    expect(push?.event).toBe("push");
    expect(deepFormOf(push?.body)).toEqual(PUSH);
    const web = `https://forge.example/${owner.name}/${repo.name}`;
    expect(push?.body).toMatchObject({
      ref: "refs/heads/main",
      before: NULL,
      after: second,
      total_commits: 2,
      commits: [
        {
          id: second,
          message: "Second\n\nwith a body\n",
          url: `${web}/commit/${second}`,
          added: ["new/ü"],
          removed: ["gone"],
          modified: ["kept"],
        },
        { id: first, added: ["gone", "kept"], removed: [], modified: [] },
      ],
      head_commit: { id: second },
      repository: {
        id: repo.id,
        name: repo.name,
        full_name: `${owner.name}/${repo.name}`,
        html_url: web,
        clone_url: `${web}.git`,
        owner: { id: owner.id, login: owner.name },
        // The receiver is anonymous, and sees the permissions of the hook.
        permissions: { admin: true, push: true, pull: true },
      },
      sender: { id: owner.id, email: `${owner.name}@noreply.forge.example` },
    });
  });

  it("gets a branch that is created and deleted by API", async () => {
    const { owner, repo, deliveries } = await makeSubscriber();
    const { second, pack } = makeTwoCommits();
    await pushAccepted(owner, repo, [{ ref: "refs/heads/main", new: second }], pack);
    const path = `/repos/${owner.name}/${repo.name}/branches`;
    const json = { new_branch_name: "topic/one", old_ref_name: "main" };
    expect((await call("POST", path, { as: owner, json })).status).toBe(201);
    expect((await call("DELETE", `${path}/topic/one`, { as: owner })).status).toBe(204);

    const [create, push, gone, ...rest] = (await deliveries(5)).slice(2);
    expect([create?.event, push?.event, gone?.event, rest]).toEqual([
      "create",
      "push",
      "delete",
      [],
    ]);
    expect(deepFormOf(create?.body)).toEqual(CREATE);
    expect(create?.body).toMatchObject({ ref: "topic/one", ref_type: "branch", sha: second });
    expect(push?.body).toMatchObject({ ref: "refs/heads/topic/one", before: NULL, after: second });
    expect(deepFormOf(gone?.body)).toEqual(DELETE);
    expect(gone?.body).toMatchObject({ ref: "topic/one", ref_type: "branch", pusher_type: "user" });
  });

  it("gets a tag that is pushed and deleted", async () => {
    const { owner, repo, deliveries } = await makeSubscriber();
    const { second, pack } = makeTwoCommits();
    await pushAccepted(owner, repo, [{ ref: "refs/heads/main", new: second }], pack);
    const tag = makeTag(second, "v1");
    await pushAccepted(owner, repo, [{ ref: "refs/tags/v1", new: tag.oid }], tag.pack);
    await pushAccepted(owner, repo, [{ ref: "refs/tags/v1", old: tag.oid }]);

    const [push, create, last, gone] = (await deliveries(6)).slice(2);
    expect([push, create, last, gone].map((each) => each?.event)).toEqual([
      "push",
      "create",
      "push",
      "delete",
    ]);
    expect(deepFormOf(push?.body)).toEqual({ ...PUSH, ...NO_COMMITS });
    expect(push?.body).toMatchObject({
      ref: "refs/tags/v1",
      before: NULL,
      total_commits: 0,
      head_commit: { id: second },
    });
    expect(deepFormOf(create?.body)).toEqual(CREATE);
    expect(create?.body).toMatchObject({ ref: "v1", ref_type: "tag" });
    expect(deepFormOf(last?.body)).toEqual({ ...PUSH, ...NO_COMMITS, head_commit: "null" });
    expect(last?.body).toMatchObject({ ref: "refs/tags/v1", after: NULL, total_commits: 0 });
    expect(deepFormOf(gone?.body)).toEqual(DELETE);
    expect(gone?.body).toMatchObject({ ref: "v1", ref_type: "tag" });
  });

  it("gets a fork with its source", async () => {
    const { owner, repo, deliveries } = await makeSubscriber();
    const other = await make.user();
    const path = `/repos/${owner.name}/${repo.name}/forks`;
    const name = freshName("fork");
    expect((await call("POST", path, { as: other, json: { name } })).status).toBe(202);
    const [fork] = await deliveries(1);
    expect(fork?.event).toBe("fork");
    const { internal_tracker: _, ...withoutIssues } = DEEP_REPOSITORY;
    expect(deepFormOf(fork?.body)).toEqual({
      forkee: DEEP_REPOSITORY,
      // The receivers of the source's hooks read the source anyway.
      repository: { ...withoutIssues, parent: DEEP_REPOSITORY },
      sender: USER,
    });
    expect(fork?.body).toMatchObject({
      forkee: { id: repo.id },
      repository: { name, fork: true, owner: { id: other.id }, parent: { id: repo.id } },
      sender: { id: other.id },
    });
  });

  it("gets a repository that is created and deleted", async () => {
    const { owner, deliveries } = await makeSubscriber();
    const name = freshName("made");
    expect((await call("POST", "/user/repos", { as: owner, json: { name } })).status).toBe(201);
    // A creation that is dispatched after the deletion makes no delivery.
    await deliveries(1);
    expect((await call("DELETE", `/repos/${owner.name}/${name}`, { as: owner })).status).toBe(204);
    const [created, deleted] = await deliveries(2);
    for (const [each, action] of [
      [created, "created"],
      [deleted, "deleted"],
    ] as const) {
      expect(each?.event).toBe("repository");
      expect(deepFormOf(each?.body)).toEqual({
        action: "string",
        repository: DEEP_REPOSITORY,
        organization: USER,
        sender: USER,
      });
      expect(each?.body).toMatchObject({
        action,
        repository: { name, owner: { id: owner.id } },
        organization: { id: owner.id },
        sender: { id: owner.id },
      });
    }
  });

  it("gets the status of a commit", async () => {
    const { owner, repo, deliveries } = await makeSubscriber();
    const { second, pack } = makeTwoCommits();
    await pushAccepted(owner, repo, [{ ref: "refs/heads/main", new: second }], pack);
    const json = {
      state: "success",
      context: "ci/build",
      description: "d",
      target_url: "https://x.example/1",
    };
    const path = `/repos/${owner.name}/${repo.name}/statuses/${second}`;
    expect((await call("POST", path, { as: owner, json })).status).toBe(201);
    const status = (await deliveries(3)).at(-1);
    expect(status?.event).toBe("status");
    expect(deepFormOf(status?.body)).toEqual({
      commit: DEEP_COMMIT,
      context: "string",
      created_at: "string",
      description: "string",
      id: "number",
      repository: DEEP_REPOSITORY,
      sender: USER,
      sha: "string",
      state: "string",
      target_url: "string",
      updated_at: "string",
    });
    expect(status?.body).toMatchObject({ ...json, sha: second, commit: { id: second } });
  });

  // A hook receives the events that it subscribes to, and no others.
  it("gets nothing of branches that it filters out, and nothing while it is inactive", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const [one, none] = [openReceiver("200"), openReceiver("200")];
    const path = `/repos/${owner.name}/${repo.name}`;
    for (const [{ url }, fields] of [
      [one, { branch_filter: "main", active: true }],
      [none, { active: false }],
    ] as const) {
      const config = { url, content_type: "json" };
      const json = { type: "gitea", config, events: ["push"], ...fields };
      expect((await call("POST", `${path}/hooks`, { as: owner, json })).status).toBe(201);
    }
    const { first, second, pack } = makeTwoCommits();
    const all = ["b", "main", "z"].map((name) => ({ ref: `refs/heads/${name}`, new: first }));
    await pushAccepted(owner, repo, all, pack);
    await pushAccepted(owner, repo, [{ ref: "refs/heads/main", old: first, new: second }], pack);
    const deliveries = await readDeliveries(one, 2, "repository");
    expect(deliveries.map(({ body }) => [body.ref, body.after])).toEqual([
      ["refs/heads/main", first],
      ["refs/heads/main", second],
    ]);
    expect(await none.received()).toEqual([]);
  });

  it("gets refs of one push separately, in order", async () => {
    const { owner, repo, deliveries } = await makeSubscriber();
    const { first, pack } = makeTwoCommits();
    await pushAccepted(owner, repo, [{ ref: "refs/heads/main", new: first }], pack);
    await pushAccepted(
      owner,
      repo,
      [
        { ref: "refs/heads/b", new: first },
        { ref: "refs/tags/light", new: first },
      ],
      makeEmptyPack(),
    );
    const rest = (await deliveries(6)).slice(2);
    expect(rest.map(({ event, body }) => `${event} ${body.ref}`)).toEqual([
      "create b",
      "push refs/heads/b",
      "push refs/tags/light",
      "create light",
    ]);
  });
});

describe("system webhooks", () => {
  let id = 0;
  let receiver: ReturnType<typeof openReceiver>;
  let admin: TestUser;

  beforeAll(async () => {
    admin = await make.admin();
    receiver = openReceiver("200");
    const config = { url: receiver.url, content_type: "form", is_system_webhook: "true" };
    const json = { type: "gitea", config, events: ["status"], active: true };
    const answer = await call("POST", "/admin/hooks", { as: admin, json });
    id = answer.body.id;
  });
  // The hook would receive events of every test's repository.
  afterAll(async () => {
    await call("DELETE", `/admin/hooks/${id}`, { as: admin });
  });

  it("get the same payload as a form", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const { second, pack } = makeTwoCommits();
    await pushAccepted(owner, repo, [{ ref: "refs/heads/main", new: second }], pack);
    const path = `/repos/${owner.name}/${repo.name}/statuses/${second}`;
    expect((await call("POST", path, { as: owner, json: { state: "error" } })).status).toBe(201);
    const ownDelivery = await vi.waitFor(
      async () => {
        const all = await receiver.received();
        const found = all
          .map(({ headers, body }) => ({
            headers,
            payload: new URLSearchParams(body).get("payload"),
          }))
          .find(({ payload }) => payload?.includes(second) && payload.includes(repo.name));
        expect(found).toBeDefined();
        return found;
      },
      { timeout: 15_000, interval: 100 },
    );
    expect(ownDelivery?.headers).toMatchObject({
      "content-type": "application/x-www-form-urlencoded",
      "x-gitea-event": "status",
      "x-gitea-hook-installation-target-type": "system",
    });
    expect(JSON.parse(ownDelivery?.payload ?? "")).toMatchObject({ sha: second, state: "error" });
  });
});
