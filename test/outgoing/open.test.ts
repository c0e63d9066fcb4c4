import { inject } from "vitest";
import { describe, expect, it } from "vitest";

import { parseConfig } from "../../src/config.ts";
import { openOutgoing } from "../../src/outgoing/open-outgoing.ts";
import type { StreamedRequest } from "../../src/outgoing/outgoing.ts";
import type {
  OpenOutcome,
  ResponseFailure,
  StreamLimits,
} from "../../src/outgoing/streamed-response.ts";
import type { Received } from "../support/start-receiver.ts";

const [here, there] = inject("receivers");
const LIMITS: StreamLimits = {
  idleMs: 5000,
  totalMs: 10_000,
  bodyBytesMax: 10_000_000,
  redirectsMax: 3,
};

const open = (
  url: string,
  request: StreamedRequest = {},
  limits: Partial<StreamLimits> = {},
  vars: Record<string, string> = { ALLOWED_HOST_LIST: "loopback" },
): Promise<OpenOutcome> =>
  openOutgoing(parseConfig({ DNS_RESOLVER_URL: "", ...vars }), "", "Edgeforge").open(url, request, {
    ...LIMITS,
    ...limits,
  });

const redirect = (from: string, to: string, status = 302) =>
  `${from}/redirect?status=${status}&to=${encodeURIComponent(to)}`;

/** Reads a body to its end: its text, or the kind of failure and how much came before. */
async function read(outcome: OpenOutcome): Promise<{ text: string; failure?: string }> {
  if (outcome.kind !== "opened") throw new Error(`no response but ${JSON.stringify(outcome)}`);
  let text = "";
  try {
    for await (const piece of outcome.body) text += new TextDecoder().decode(piece);
  } catch (error) {
    return { text, failure: (error as ResponseFailure).kind };
  }
  return { text };
}

const received = async (outcome: OpenOutcome) => JSON.parse((await read(outcome)).text) as Received;

const countOf = async (id: string) =>
  Number((await read(await open(`${here}/count?of=${id}`))).text);

async function* pieces(count: number, onPiece: () => void = () => {}) {
  for (let at = 0; at < count; at++) {
    onPiece();
    yield new TextEncoder().encode(`piece ${at};`);
  }
}

describe("open", () => {
  it("sends the request unchanged and streams the response", async () => {
    const outcome = await open(`${here}/echo?x=1#y`, {
      method: "POST",
      headers: { Authorization: "Basic x" },
      body: "ü",
    });
    expect(outcome).toMatchObject({ kind: "opened", status: 200, url: `${here}/echo?x=1` });
    expect(await received(outcome)).toMatchObject({
      body: "ü",
      headers: { authorization: "Basic x", "user-agent": "Edgeforge" },
    });
    expect((await read(await open(`${here}/large?bytes=3000000`))).text.length).toBe(3_000_000);
  });

  it("streams a request body", async () => {
    const outcome = await open(`${here}/echo`, { method: "POST", body: pieces(3) });
    expect((await received(outcome)).body).toBe("piece 0;piece 1;piece 2;");
  });

  it("throws what its request body throws", async () => {
    async function* broken() {
      yield new Uint8Array(10);
      throw new Error("the pack can't be made");
    }
    const sent = open(`${here}/echo`, { method: "POST", body: broken() });
    await expect(sent).rejects.toThrow("the pack can't be made");
  });

  it("follows redirects with checks and says where they end, but none for a streamed body", async () => {
    const outcome = await open(redirect(here, "/echo?z"));
    expect(outcome).toMatchObject({ kind: "opened", status: 200, url: `${here}/echo?z` });
    await read(outcome);
    const id = crypto.randomUUID();
    const away = redirect(here, `http://10.0.0.1/echo?id=${id}`);
    expect(await open(away)).toMatchObject({ kind: "blocked" });
    const post = await open(redirect(here, `/echo?id=${id}`, 307), {
      method: "POST",
      body: pieces(2),
    });
    expect(post).toMatchObject({ kind: "opened", status: 307 });
    if (post.kind === "opened") post.end();
    expect(await countOf(id)).toBe(0);
    expect(await open(`${here}/loop?id=${id}`)).toMatchObject({ kind: "blocked" });
    expect(await countOf(id)).toBe(4);
  });

  it("drops credentials across hosts", async () => {
    const headers = { Authorization: "Basic x", "X-Event": "push" };
    expect(
      (await received(await open(redirect(here, "/echo"), { headers }))).headers,
    ).toMatchObject({ authorization: "Basic x" });
    const other = await received(await open(redirect(here, `${there}/echo`), { headers }));
    expect(other.headers).toMatchObject({ "x-event": "push" });
    expect(other.headers).not.toHaveProperty("authorization");
  });

  it("ends a body that is too large, also after decompression", async () => {
    for (const path of ["large", "bomb"]) {
      const limits = { bodyBytesMax: 500_000 };
      const outcome = await open(`${here}/${path}?bytes=10000000`, {}, limits);
      const { text, failure } = await read(outcome);
      expect(failure, path).toBe("too_large");
      expect(text.length).toBeLessThanOrEqual(500_000);
      expect(await read(await open(`${here}/${path}?bytes=500000`, {}, limits))).toMatchObject({
        text: "x".repeat(500_000),
      });
    }
  });

  it("ends where nothing happens for too long, and when the time is over", async () => {
    expect(await open(`${here}/hang`, {}, { idleMs: 200 })).toEqual({ kind: "timeout" });
    expect(await open(redirect(here, "/hang"), {}, { idleMs: 200 })).toEqual({ kind: "timeout" });
    expect(await open(`${here}/hang`, {}, { totalMs: 200 })).toEqual({ kind: "timeout" });
    expect(await read(await open(`${here}/drip`, {}, { idleMs: 200 }))).toEqual({
      text: "a",
      failure: "timeout",
    });
    expect(await read(await open(`${here}/drip`, {}, { totalMs: 300 }))).toMatchObject({
      failure: "timeout",
    });
  });

  it("reads a large body in large pieces", async () => {
    const outcome = await open(`${here}/large?bytes=3000000`);
    if (outcome.kind !== "opened") throw new Error(outcome.kind);
    const sizes: number[] = [];
    for await (const { length } of outcome.body) sizes.push(length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(3_000_000);
    const [last = 0, ...before] = sizes.toReversed();
    expect(last).toBeLessThanOrEqual(262_144);
    expect(new Set(before.slice(0, 8))).toEqual(new Set([262_144]));
  });

  it("counts no time of its reader as idle", async () => {
    const outcome = await open(`${here}/large?bytes=3000000`, {}, { idleMs: 300 });
    if (outcome.kind !== "opened") throw new Error(outcome.kind);
    let bytes = 0;
    for await (const piece of outcome.body) {
      if (bytes === 0) await new Promise((resolve) => setTimeout(resolve, 600));
      bytes += piece.length;
    }
    expect(bytes).toBe(3_000_000);
  });

  it("reports a body that breaks off, and no answer at all", async () => {
    expect(await read(await open(`${here}/break`))).toEqual({ text: "a", failure: "network" });
    expect(await open(`${here}/garbage`)).toMatchObject({ kind: "network" });
    expect(await open("http://127.0.0.1:21699/")).toMatchObject({ kind: "network" });
  });

  it("ends the request when its reader stops", async () => {
    const outcome = await open(`${here}/large?bytes=9000000`, {}, { idleMs: 200, totalMs: 500 });
    if (outcome.kind !== "opened") throw new Error(outcome.kind);
    for await (const piece of outcome.body) {
      expect(piece.length).toBeGreaterThan(0);
      break;
    }
    expect(await outcome.body.next()).toEqual({ done: true, value: undefined });
  });

  it("sends nothing to blocked hosts, and takes no piece of a body for them", async () => {
    let taken = 0;
    const body = pieces(2, () => taken++);
    const id = crypto.randomUUID();
    const { port } = new URL(here);
    for (const host of ["127.0.0.1", "127.1", "localhost", "[::ffff:127.0.0.1]"]) {
      const url = `http://${host}:${port}/echo?id=${id}`;
      expect(await open(url, { method: "POST", body }, {}, {}), host).toMatchObject({
        kind: "blocked",
      });
    }
    expect(await countOf(id)).toBe(0);
    expect(taken).toBe(0);
  });
});
