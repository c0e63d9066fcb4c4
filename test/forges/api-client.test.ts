import { inject } from "vitest";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { parseConfig } from "../../src/config.ts";
import { StepAnswers } from "../../src/forges/step-answers.ts";
import { ApiClient, type ApiClientOptions } from "../../src/forges/api-client.ts";
import { TWO_FACTORS_REQUIRED } from "../../src/forges/two-factors.ts";
import { openOutgoing } from "../../src/outgoing/open-outgoing.ts";

const [here, there] = inject("receivers");
const NOW = Date.UTC(2026, 0, 1);

function open(options: Partial<ApiClientOptions> = {}, allowed = "loopback"): ApiClient {
  const config = parseConfig({ ALLOWED_HOST_LIST: allowed, DNS_RESOLVER_URL: "" });
  const outgoing = openOutgoing(config, "", "Edgeforge");
  return new ApiClient(outgoing, {
    baseUrl: here,
    headers: {},
    now: () => NOW,
    wait: async () => {},
    ...options,
  });
}

/** The path of an answer of the receiver. */
function answer(status: number, headers: Record<string, string> = {}, body = "[]"): string {
  const query = new URLSearchParams({
    status: `${status}`,
    headers: JSON.stringify(headers),
    body,
  });
  return `/answer?${query}`;
}

const LIST = z.array(z.unknown());
const ECHO = z.object({ path: z.string(), headers: z.record(z.string(), z.string()) });

const failureOf = async (path: string, client = open()) =>
  await client.get(path, LIST).then(
    () => "none",
    (error: unknown) => error,
  );

describe("get", () => {
  it("sends headers and the query, and returns what has the shape", async () => {
    const client = open({ baseUrl: `${here}/`, headers: { Authorization: "token x" } });
    const { value } = await client.get("/echo?a=1", ECHO, { b: 2, c: undefined, d: "x&y" });
    expect(value).toMatchObject({
      path: "/echo?a=1&b=2&d=x%26y",
      headers: { authorization: "token x", accept: "application/json" },
    });
  });

  it("returns the total and the next page of a list", async () => {
    const link = `<https://elsewhere.example/x?page=1>; rel="prev", </x?page=3&limit=2>; rel="next"`;
    const path = answer(200, { Link: link, "X-Total-Count": "7" }, "[1]");
    expect(await open().get(path, LIST)).toEqual({
      value: [1],
      total: 7,
      next: "/answer?page=3&limit=2",
    });
    expect(await open().get(answer(200, { "X-Total": "8" }), LIST)).toEqual({
      value: [],
      total: 8,
      next: undefined,
    });
  });

  it("returns no next page after one without items, since a list might never end", async () => {
    const link = `</x?page=3>; rel="next"`;
    expect((await open().get(answer(200, { Link: link }), LIST)).next).toBeUndefined();
  });

  it("goes on from what was answered to the attempts before, once", async () => {
    const answers = new StepAnswers();
    const path = answer(200, { "X-Total": "8" }, "[1]");
    const gone = answer(404);
    const first = await open({ answers }).get(path, LIST);
    await failureOf(gone, open({ answers }));
    expect(answers.count).toBe(2);

    const again = new StepAnswers(answers.toStore());
    const client = open({ answers: again });
    expect(await client.get(path, LIST)).toEqual(first);
    expect(await failureOf(gone, client)).toMatchObject({ kind: "not_found" });
    expect(again.count).toBe(0);
    expect(again.toStore()).toEqual([]);
    await client.get(path, LIST);
    expect(again.count).toBe(1);
  });

  // A forge may be reached by another name than it believes to have; and a link may be forged.
  it("stays on the server and path that it asked, wherever the link leads", async () => {
    const link = `<${there}/private?page=2>; rel="next"`;
    const { next } = await open().get(answer(200, { Link: link }, "[1]"), LIST);
    expect(next).toBe("/answer?page=2");
  });

  it("stays on the server for paths that look like another", async () => {
    const { value } = await open().get(`//${new URL(there).host}/echo`, ECHO);
    expect(value.headers["host"]).toBe(new URL(here).host);
  });

  it("keeps credentials from another server, to which it is redirected", async () => {
    const client = open({
      headers: { Authorization: "token x", "X-Key": "y", "X-Other": "z" },
      secretHeaders: ["X-Key"],
    });
    const { value } = await client.get("/redirect", ECHO, { to: `${there}/echo` });
    expect(value.headers).toMatchObject({ "x-other": "z" });
    expect(value.headers).not.toHaveProperty("authorization");
    expect(value.headers).not.toHaveProperty("x-key");
  });

  it.each([
    [401, "unauthorized"],
    [403, "unauthorized"],
    [404, "not_found"],
    [410, "not_found"],
    [422, "refused"],
    [500, "server"],
    [502, "server"],
    [503, "server"],
    [304, "protocol"],
  ])("reports an answer of status %d", async (status, kind) => {
    expect(await failureOf(answer(status))).toMatchObject({ kind, retryAt: undefined });
  });

  it("distinguishes a required second factor from wrong credentials", async () => {
    const failure = await failureOf(answer(401, { "X-GitHub-OTP": "required; app" }));
    expect(failure).toMatchObject({ kind: "unauthorized", message: TWO_FACTORS_REQUIRED });
    const wrong = await failureOf(answer(401, { "X-GitHub-OTP": "optional" }));
    expect(wrong).toMatchObject({ kind: "unauthorized" });
    expect(wrong).not.toMatchObject({ message: TWO_FACTORS_REQUIRED });
  });

  const in90Seconds = `${NOW / 1000 + 90}`;
  it.each([
    [429, {}, "", 60_000],
    [429, { "Retry-After": "90" }, "", 90_000],
    [429, { "Retry-After": new Date(NOW + 90_000).toUTCString() }, "", 90_000],
    [429, { "RateLimit-Reset": in90Seconds }, "", 90_000],
    [429, { "RateLimit-Reset": "90" }, "", 90_000],
    [429, { "X-RateLimit-Reset": "1" }, "", 1000],
    [429, { "Retry-After": "999999999" }, "", 24 * 3600_000],
    [403, { "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": in90Seconds }, "", 90_000],
    [403, { "Retry-After": "90" }, "", 90_000],
    [403, {}, '{"message":"You have exceeded a secondary rate limit"}', 60_000],
    [503, { "Retry-After": "90" }, "", 90_000],
  ])("reports the end of a rate limit: %d %j %s", async (status, headers, body, afterMs) => {
    expect(await failureOf(answer(status, headers as Record<string, string>, body))).toMatchObject({
      kind: "rate_limited",
      retryAt: NOW + afterMs,
    });
  });

  it.each([500, 503, 429])("repeats a request that met %d for a moment", async (failure) => {
    const id = `api-client-${failure}`;
    const path = (failures: number, kind: string) =>
      `${answer(200)}&id=${id}-${kind}&failures=${failures}&failure=${failure}`;
    const pauses: number[] = [];
    const client = open({ wait: async (ms) => void pauses.push(ms) });
    expect(await client.get(path(2, "short"), LIST)).toMatchObject({ value: [] });
    expect(pauses).toEqual(failure === 500 ? [100, 500] : [1000, 1000]);
    expect(await failureOf(path(9, "long"))).toHaveProperty("kind");
    expect(await open().get(`/count?of=${id}-long`, z.number())).toMatchObject({ value: 3 });
  });

  it.each([
    ["no JSON", "<html>Sign in</html>"],
    ["another shape", '{"message":"ok"}'],
    ["nothing", ""],
  ])("refuses an answer that is %s", async (_, body) => {
    expect(await failureOf(answer(200, {}, body))).toMatchObject({ kind: "protocol" });
  });

  it("names the field that is not as documented, and neither its value nor the query", async () => {
    const path = answer(200, {}, '[{"name":"secret"}]');
    const failed = open().get(path, z.array(z.object({ name: z.number() })));
    await expect(failed).rejects.toThrow(/^GET [^ ]+\/answer is not what .*: 0\.name$/);
  });

  it("reports hosts that are not allowed, don't answer or answer without end", async () => {
    expect(await failureOf("/x", open({}, "external"))).toMatchObject({ kind: "blocked" });
    expect(await failureOf("/garbage")).toMatchObject({ kind: "unreachable" });
    expect(await failureOf("/large?bytes=20000001")).toMatchObject({ kind: "too_large" });
    expect(() => open({ baseUrl: "nowhere" })).toThrow("this is no address");
  });
});

describe("isOwn", () => {
  it("is true of the API's own server alone", () => {
    const client = open({ baseUrl: "https://forge.example/sub/api/v1" });
    expect(client.isOwn("https://forge.example/attachments/1")).toBe(true);
    expect(client.isOwn("http://forge.example/attachments/1")).toBe(false);
    expect(client.isOwn("https://forge.example:444/x")).toBe(false);
    expect(client.isOwn("https://forge.example.evil.example/x")).toBe(false);
    expect(client.isOwn("/attachments/1")).toBe(false);
  });
});
