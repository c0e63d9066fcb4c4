import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { admin, callApi, makeRepo, makeUser } from "../support/forge.ts";
import { commit, git, makeWork } from "../support/git.ts";

const SECRET = "a secret & its söund";

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const received: Received[] = [];
const server = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    received.push({ headers: request.headers, body: Buffer.concat(pieces).toString("utf8") });
    response.end("received");
  });
});
let url = "";

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => void server.close());

interface Payload {
  readonly action: string;
  readonly pull_request?: { readonly head: { sha: string }; readonly merged: boolean };
}

const payloadOf = ({ body }: Received): Payload => JSON.parse(body) as Payload;

/** The event, its family and the action of each delivery, in the order of the events. */
const deliveredEvents = () =>
  received
    .toSorted(
      (a, b) =>
        Number(a.headers["x-edgeforge-event-id"]) - Number(b.headers["x-edgeforge-event-id"]),
    )
    .map((each) => [
      each.headers["x-github-event-type"],
      each.headers["x-github-event"],
      payloadOf(each).action,
    ]);

const hmac = (hash: "sha1" | "sha256", text: string): string =>
  createHmac(hash, SECRET).update(text).digest("hex");

describe("the webhook of a repository", () => {
  it("receives what happens to a pull request, and its release, with signatures", async () => {
    const repo = await makeRepo();
    const reviewer = await makeUser();
    const call = <T = Record<string, unknown>>(
      method: string,
      path: string,
      body?: object,
      as = admin,
    ) => callApi<T>(as, method, `${repo.path}${path}`, body);
    await call("PUT", `/collaborators/${reviewer.name}`, { permission: "write" });
    await call("POST", "/labels", { name: "kind", color: "#00aabb" });
    const work = await makeWork();
    await commit(work, { a: "1\n" }, "Begin");
    await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
    await git(work, ["checkout", "--quiet", "-b", "topic"]);
    await commit(work, { b: "1\n" }, "A topic");
    await git(work, ["push", "--quiet", repo.ownUrl, "topic"]);
    await call("POST", "/hooks", {
      type: "gitea",
      active: true,
      events: ["pull_request", "release"],
      config: { url, content_type: "json", secret: SECRET },
    });

    await call("POST", "/pulls", { title: "A topic", head: "topic", base: "main" });
    const head = await commit(work, { b: "2\n" }, "More");
    await git(work, ["push", "--quiet", repo.ownUrl, "topic"]);
    await vi.waitFor(
      async () =>
        expect(await call("GET", "/pulls/1")).toMatchObject({
          head: { sha: head },
          mergeable: true,
        }),
      { timeout: 30_000 },
    );
    await call("POST", "/pulls/1/requested_reviewers", { reviewers: [reviewer.name] });
    const review = (event: string) =>
      call("POST", "/pulls/1/reviews", { event, body: "As I see it" }, reviewer);
    await review("REQUEST_CHANGES");
    await review("COMMENT");
    await review("APPROVED");
    await call("POST", "/issues/1/labels", { labels: ["kind"] });
    await call("POST", "/issues/1/comments", { body: "Merging" });
    await call("POST", "/pulls/1/merge", { Do: "squash" });
    await call("POST", "/releases", { tag_name: "v1", target_commitish: "main", name: "One" });

    const expected = [
      ["pull_request", "pull_request", "opened"],
      ["pull_request_sync", "pull_request", "synchronized"],
      ["pull_request_review_request", "pull_request", "review_requested"],
      ["pull_request_review_rejected", "pull_request_rejected", "reviewed"],
      ["pull_request_review_comment", "pull_request_comment", "reviewed"],
      ["pull_request_review_approved", "pull_request_approved", "reviewed"],
      ["pull_request_label", "pull_request", "label_updated"],
      ["pull_request_comment", "issue_comment", "created"],
      ["pull_request", "pull_request", "closed"],
      ["release", "release", "published"],
    ];
    await vi.waitFor(() => expect(deliveredEvents()).toEqual(expected), {
      timeout: 40_000,
      interval: 250,
    });

    const ids = new Set(received.map(({ headers }) => headers["x-gitea-delivery"]));
    expect(ids.size).toBe(expected.length);
    for (const { headers, body } of received) {
      expect(headers).toMatchObject({
        "content-type": "application/json",
        "x-gitea-event": headers["x-github-event"],
        "x-gogs-event": headers["x-github-event"],
        "x-gitea-event-type": headers["x-github-event-type"],
        "x-github-delivery": headers["x-gitea-delivery"],
        "x-gitea-signature": hmac("sha256", body),
        "x-hub-signature-256": `sha256=${hmac("sha256", body)}`,
        "x-hub-signature": `sha1=${hmac("sha1", body)}`,
      });
    }
    const payloads = received.map(payloadOf);
    const pullOf = (action: string) =>
      payloads.find((each) => each.action === action)?.pull_request;
    expect(pullOf("synchronized")?.head.sha).toBe(head);
    expect(pullOf("closed")).toMatchObject({ merged: true, merge_commit_sha: expect.any(String) });
    expect(payloads.find(({ action }) => action === "review_requested")).toMatchObject({
      requested_reviewer: { login: reviewer.name },
    });
    expect(payloads.filter(({ action }) => action === "reviewed")).toMatchObject(
      ["rejected", "comment", "approved"].map((kind) => ({
        review: { type: `pull_request_review_${kind}`, content: "As I see it" },
        sender: { login: reviewer.name },
      })),
    );
    // Without a slot for the label the receiver would have to ask for it.
    expect(payloads.find(({ action }) => action === "label_updated")).toMatchObject({
      pull_request: { labels: [{ name: "kind" }] },
    });
    expect(payloads.find(({ action }) => action === "published")).toMatchObject({
      release: { tag_name: "v1" },
    });
  });
});
