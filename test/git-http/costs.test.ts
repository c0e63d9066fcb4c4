import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";

import { createApp } from "../../src/app.ts";
import { parseConfig } from "../../src/config.ts";
import { type Answer, visit } from "../support/call.ts";
import { History } from "../support/commits.ts";
import { failing } from "../support/faults.ts";
import { placeOf } from "../support/git.ts";
import { make, type TestRepo, type TestUser } from "../support/make.ts";
import { makeCommit, push, pushCommands, refsOf, storePush } from "../support/push.ts";
import { doorsWith } from "../support/service.ts";
import { logged } from "../support/usage.ts";

/** The service with recorded storage calls, in order. */
function counted() {
  const { bindings, calls } = failing({
    at: Number.POSITIVE_INFINITY,
    isDone: false,
    isDeath: false,
  });
  const callsOf = (service: string): string[] => calls.filter((name) => name.startsWith(service));
  return { visit: doorsWith({}, bindings), callsOf };
}

const pkt = (text: string): string => (text.length + 4).toString(16).padStart(4, "0") + text;

/** A command of protocol version 2. */
const command = (name: string, args: readonly string[]) => ({
  headers: { "Content-Type": "application/x-git-upload-pack-request", "Git-Protocol": "version=2" },
  body: `${pkt(`command=${name}\n`)}0001${args.map(pkt).join("")}0000`,
});

const cloneOf = (oids: readonly string[]) =>
  command("fetch", ["ofs-delta\n", ...oids.map((oid) => `want ${oid}\n`), "done\n"]);

const pathOf = ({ owner, name }: TestRepo, rest: string): string => `/${owner}/${name}.git/${rest}`;

/** Bytes of a text that can't be compressed to less than half of them. */
const PIECE_BYTES = 65_536;

const makeNoise = (): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(PIECE_BYTES))).toString("base64");

/** A repository of `count` packs of one commit each, with some pieces of noise. */
async function makePushed(count: number, pieces = 0) {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const oids: string[] = [];
  for (let at = 0; at < count; at++) {
    const history = new History();
    const noise = Array.from({ length: pieces }, (_, piece) => [`file-${piece}`, makeNoise()]);
    const files = Object.fromEntries([["name", `${repo.name} ${at}`], ...noise]);
    const oid = history.commit({ files });
    await storePush(repo, `refs/heads/${at}`, oid, history.build());
    oids.push(oid);
  }
  return { owner, repo, oids };
}

describe("the storage calls of a git request", () => {
  it("for an advertisement: one object call, and none in version 2", async () => {
    const { owner, repo } = await makePushed(2);
    const advertise = (service: string, headers = {}) =>
      logged(() =>
        visit("GET", pathOf(repo, `info/refs?service=${service}`), { as: owner, headers }),
      );
    const ofPush = await advertise("git-receive-pack");
    expect(ofPush.line).toMatchObject({ status: 200, objectCalls: 1, r2Calls: 0 });
    expect(ofPush.line.d1Rounds).toBeLessThanOrEqual(2);
    const ofFetch = await advertise("git-upload-pack", { "Git-Protocol": "version=2" });
    expect(ofFetch.line).toMatchObject({ status: 200, objectCalls: 0, r2Calls: 0 });
    expect(ofFetch.line.d1Rounds).toBeLessThanOrEqual(2);
    expect(ofFetch.sent).toBeUndefined();
  });

  it("for ls-refs: one object call", async () => {
    const { owner, repo, oids } = await makePushed(2);
    const { answer, line, sent } = await logged(() =>
      visit("POST", pathOf(repo, "git-upload-pack"), { as: owner, ...command("ls-refs", []) }),
    );
    for (const oid of oids) expect(answer.body).toContain(oid);
    expect(line).toMatchObject({ objectCalls: 1, r2Calls: 0 });
    expect(line.d1Rounds).toBeLessThanOrEqual(2);
    expect(sent).toBeUndefined();
  });

  it.each([
    ["a small pack: none, since this isolate has stored it", 0, [0, 0]],
    ["a pack: its two tables if they are not cached, and one read", 8, [3, 1]],
    ["a large pack: its two tables if they are not cached, and one stream", 20, [3, 1]],
  ])("for a clone of %s", async (_, pieces, costs) => {
    const { owner, repo, oids } = await makePushed(1, pieces);
    for (const r2Calls of costs) {
      const { visit: visitCounted, callsOf } = counted();
      const { answer, line, sent } = await logged(() =>
        visitCounted("POST", pathOf(repo, "git-upload-pack"), { as: owner, ...cloneOf(oids) }),
      );
      expect(answer.body).toContain("PACK");
      expect(callsOf("object")).toEqual(["object.snapshot"]);
      expect(callsOf("bucket")).toEqual(Array.from({ length: r2Calls }, () => "bucket.get"));
      expect(callsOf("d1")).toEqual(["d1.batch"]);
      expect(sent).toMatchObject({ objectCalls: 1, r2Calls });
      expect(line.d1Rounds).toBeLessThanOrEqual(2);
    }
  });

  it.each([
    ["small packs: none, since this isolate has stored them", 0, 0],
    // Each push opened the packs before it, so only the tables of the last pack are uncached.
    ["packs: the uncached tables, and one read of each pack", 8, 2 + 3],
  ])("for a clone of several %s", async (_, pieces, r2Calls) => {
    const { owner, repo, oids } = await makePushed(3, pieces);
    const { visit: visitCounted, callsOf } = counted();
    const { sent } = await logged(() =>
      visitCounted("POST", pathOf(repo, "git-upload-pack"), { as: owner, ...cloneOf(oids) }),
    );
    expect(callsOf("object")).toEqual(["object.snapshot"]);
    expect(sent).toMatchObject({ objectCalls: 1, r2Calls });
  });

  it("for a push: two object calls before the response, and one write of each file", async () => {
    const { owner, repo } = await makePushed(0);
    const { oid, pack } = makeCommit("counted");
    const { visit: visitCounted, callsOf } = counted();
    const { line, sent } = await logged(async () => {
      const answer = await pushBy(visitCounted, owner, repo, oid, pack);
      expect(answer.body).toContain("ok refs/heads/main");
      return answer;
    });
    // The third call follows the response: it settles the push after its event is stored in D1.
    expect(callsOf("object")).toEqual(["object.beginUpload", "object.commitPush", "object.settle"]);
    expect(callsOf("bucket")).toEqual(["bucket.put", "bucket.put", "bucket.put"]);
    // Authentication and the repository, then the event.
    expect(callsOf("d1")).toEqual(["d1.batch", "d1.batch"]);
    expect(line.d1Rounds).toBeLessThanOrEqual(2);
    expect(sent?.r2Calls).toBe(3);
    expect(await refsOf(repo)).toMatchObject([{ name: "refs/heads/main", oid }]);
  });

  it("for a fork: one object call", async () => {
    const { repo } = await makePushed(1);
    const forker = await make.user();
    const { visit: visitCounted, callsOf } = counted();
    const path = `/api/v1/repos/${repo.owner}/${repo.name}/forks`;
    const { body } = await visitCounted("POST", path, { as: forker, json: {} });
    expect(callsOf("object")).toEqual(["object.fork"]);
    expect(callsOf("bucket")).toEqual([]);
    expect(await refsOf(await placeOf(body.id))).toHaveLength(1);
  });
});

const pushBy = (
  visitCounted: typeof visit,
  owner: TestUser,
  repo: TestRepo,
  oid: string,
  pack: Uint8Array,
): Promise<Answer> =>
  pushCommands(owner, repo, [{ ref: "refs/heads/main", new: oid }], { pack, visit: visitCounted });

describe("the log line at the end of a streamed response", () => {
  it("counts sent bytes and storage calls, and follows the request's line", async () => {
    const { owner, repo, oids } = await makePushed(1, 20);
    const { answer, line, sent, text } = await logged(() =>
      visit("POST", pathOf(repo, "git-upload-pack"), { as: owner, ...cloneOf(oids) }),
    );
    expect(sent).toEqual({
      event: "git:sent",
      id: line.id,
      r2Calls: expect.any(Number),
      r2Rounds: expect.any(Number),
      objectCalls: 1,
      bufferedBytesPeak: expect.any(Number),
      steps: 0,
      sentBytes: expect.any(Number),
    });
    expect(sent?.sentBytes).toBeGreaterThan(answer.body.length / 2);
    // Two pieces, one being read and one being sent, count with their full size.
    expect(sent?.bufferedBytesPeak).toBeGreaterThan(500_000);
    expect(sent?.bufferedBytesPeak).toBeLessThan(2_000_000);
    expect(text.indexOf('"request"')).toBeLessThan(text.indexOf('"git:sent"'));
  });

  it("is written for a push", async () => {
    const { owner, repo } = await makePushed(0);
    const { oid, pack } = makeCommit("sent");
    const { sent } = await logged(() => push(owner, repo, oid, pack));
    expect(sent?.sentBytes).toBeGreaterThan(0);
  });

  it.each([0, 1])("is written if the client disconnects after %i reads", async (reads) => {
    const { owner, repo, oids } = await makePushed(1);
    const { headers, body } = cloneOf(oids);
    const request = new Request(`https://forge.example${pathOf(repo, "git-upload-pack")}`, {
      method: "POST",
      headers: { ...headers, Authorization: `token ${owner.token}` },
      body,
    });
    const spy = vi.spyOn(console, "log").mockImplementation(() => {});
    try {
      const response = await createApp(parseConfig({})).fetch(
        request,
        env,
        createExecutionContext(),
      );
      const id = response.headers.get("X-Request-Id");
      const reader = response.body?.getReader();
      for (let read = 0; read < reads; read++) await reader?.read();
      await reader?.cancel();
      const lines = spy.mock.calls.map(
        ([line]) => JSON.parse(String(line)) as { event: string; id: string },
      );
      const own = lines.filter((each) => each.id === id);
      expect(own.map(({ event }) => event)).toEqual(["request", "git:sent"]);
    } finally {
      spy.mockRestore();
    }
  });
});
