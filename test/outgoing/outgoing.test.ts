import { inject } from "vitest";
import { describe, expect, it } from "vitest";

import { parseConfig } from "../../src/config.ts";
import { DnsOverHttps } from "../../src/outgoing/name-resolver.ts";
import { openOutgoing } from "../../src/outgoing/open-outgoing.ts";
import type { Outcome } from "../../src/outgoing/outcome.ts";
import type { OutgoingLimits, OutgoingRequest } from "../../src/outgoing/outgoing.ts";
import type { Received } from "../support/start-receiver.ts";

const [here, there] = inject("receivers");
const LIMITS = { timeoutMs: 10_000, bodyBytesMax: 10_000, redirectsMax: 3 };

const send = (
  url: string,
  request: OutgoingRequest = {},
  limits: Partial<OutgoingLimits> = {},
  vars: Record<string, string> = { ALLOWED_HOST_LIST: "loopback" },
): Promise<Outcome> => {
  const config = parseConfig({ DNS_RESOLVER_URL: `${here}/dns-query`, ...vars });
  return openOutgoing(config, "", "Edgeforge").fetchGuarded(url, request, { ...LIMITS, ...limits });
};

const redirect = (from: string, to: string, status = 302) =>
  `${from}/redirect?status=${status}&to=${encodeURIComponent(to)}`;

function textOf(outcome: Outcome): string {
  if (!("body" in outcome)) throw new Error(`no response but ${JSON.stringify(outcome)}`);
  return new TextDecoder().decode(outcome.body);
}

const receivedBy = (outcome: Outcome) => JSON.parse(textOf(outcome)) as Received;

const countOf = async (id: string) => Number(textOf(await send(`${here}/count?of=${id}`)));

describe("fetchGuarded", () => {
  it("sends the request unchanged and returns the response", async () => {
    const outcome = await send(`${here}/echo?x=1#y`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: "Bearer x", "X-Event": "push" },
      body: '{"a":"ü"}',
    });
    expect(outcome).toMatchObject({ kind: "answered", status: 200, url: `${here}/echo?x=1` });
    expect(receivedBy(outcome)).toMatchObject({
      method: "POST",
      path: "/echo?x=1",
      body: '{"a":"ü"}',
      headers: {
        host: new URL(here).host,
        "content-type": "application/json",
        authorization: "Bearer x",
        "x-event": "push",
        "user-agent": "Edgeforge",
      },
    });
  });

  it("sends bytes unchanged", async () => {
    const body = new TextEncoder().encode("a\r\nb");
    expect(receivedBy(await send(`${here}/echo`, { method: "PUT", body })).body).toBe("a\r\nb");
  });

  it.each([200, 204, 304, 400, 404, 410, 429, 500, 503])(
    "returns a response of status %d",
    async (status) => {
      expect(await send(`${here}/status?status=${status}`)).toMatchObject({
        kind: "answered",
        status,
      });
    },
  );

  it("returns a redirect without Location, or with redirects disabled, as a response", async () => {
    expect(await send(`${here}/status?status=302`)).toMatchObject({
      kind: "answered",
      status: 302,
    });
    const outcome = await send(
      redirect(here, "/echo"),
      {},
      { redirectsMax: 0, bodyBytesMax: 200_000 },
    );
    expect(outcome).toMatchObject({ kind: "answered", status: 302 });
  });

  it("sends the body again after 307 and 308 only", async () => {
    const post = { method: "POST", body: "x", headers: { "Content-Type": "text/plain" } } as const;
    const again = receivedBy(await send(redirect(here, "/echo", 307), post));
    expect(again).toMatchObject({ method: "POST", body: "x" });
    const read = receivedBy(await send(redirect(here, "/echo", 302), post));
    expect(read).toMatchObject({ method: "GET", body: "" });
    expect(read.headers).not.toHaveProperty("content-type");
  });

  it("keeps secrets on redirects within a host, and drops them once another host is involved", async () => {
    const secret = {
      headers: { Authorization: "Basic x", "X-Signed": "y", "X-Event": "push" },
      secretHeaders: ["x-signed"],
    };
    const same = receivedBy(await send(redirect(here, "/echo"), secret));
    expect(same.headers).toMatchObject({ authorization: "Basic x", "x-signed": "y" });
    for (const to of [`${there}/echo`, redirect(there, `${here}/echo`)]) {
      const { headers } = receivedBy(await send(redirect(here, to), secret));
      expect(headers).toMatchObject({ "x-event": "push" });
      expect(headers).not.toHaveProperty("authorization");
      expect(headers).not.toHaveProperty("x-signed");
    }
  });

  it("follows up to redirectsMax redirects", async () => {
    const twice = redirect(here, redirect(here, "/echo"));
    expect(await send(twice, {}, { redirectsMax: 2 })).toMatchObject({
      kind: "answered",
      status: 200,
    });
    expect(await send(twice, {}, { redirectsMax: 1 })).toEqual({
      kind: "blocked",
      reason: "more than 1 redirects",
    });
    const id = crypto.randomUUID();
    expect(await send(`${here}/loop?id=${id}`)).toMatchObject({ kind: "blocked" });
    expect(await countOf(id)).toBe(4);
  });

  it.each(["hang", "drip"])("stops waiting at the timeout: %s", async (path) => {
    expect(await send(`${here}/${path}`, {}, { timeoutMs: 300 })).toEqual({ kind: "timeout" });
    expect(await send(redirect(here, `/${path}`), {}, { timeoutMs: 300 })).toEqual({
      kind: "timeout",
    });
  });

  it("reads at most bodyBytesMax bytes, also of a compressed body", async () => {
    for (const path of ["large", "bomb"]) {
      const outcome = await send(`${here}/${path}?bytes=10000000`);
      expect(outcome, path).toMatchObject({ kind: "too_large", status: 200 });
      expect(textOf(outcome)).toBe("x".repeat(10_000));
      expect(await send(`${here}/${path}?bytes=10000`)).toMatchObject({ kind: "answered" });
      expect(await send(`${here}/${path}?bytes=10001`)).toMatchObject({ kind: "too_large" });
    }
  });

  it.each(["break", "garbage"])("reports an incomplete or invalid response: %s", async (path) => {
    expect(await send(`${here}/${path}`)).toMatchObject({ kind: "network" });
  });

  it("reports a refused connection", async () => {
    expect(await send("http://127.0.0.1:21699/")).toMatchObject({ kind: "network" });
  });

  it("sends nothing to blocked hosts or with invalid headers", async () => {
    const id = crypto.randomUUID();
    const port = new URL(here).port;
    for (const host of [
      "127.0.0.1",
      "127.1",
      "localhost",
      "0x7f000001",
      "[::ffff:127.0.0.1]",
      "mixed.zone",
    ]) {
      const url = `http://${host}:${port}/echo?id=${id}`;
      expect(await send(url, {}, {}, {}), host).toMatchObject({ kind: "blocked" });
    }
    const blocking = { ALLOWED_HOST_LIST: "loopback", BLOCKED_HOST_LIST: "127.0.0.0/8" };
    expect(await send(`${here}/echo?id=${id}`, {}, {}, blocking)).toMatchObject({
      kind: "blocked",
    });
    const injected = { headers: { "X-A": "b\r\nX-C: d" } };
    expect(await send(`${here}/echo?id=${id}`, injected)).toMatchObject({ kind: "blocked" });
    expect(await countOf(id)).toBe(0);
  });
});

describe("DnsOverHttps", () => {
  const { signal } = new AbortController();
  const resolve = (name: string, path = "/dns-query") =>
    new DnsOverHttps(`${here}${path}`).resolve(name, signal);

  it("finds the addresses of both families behind an alias", async () => {
    const both = await resolve("public.zone");
    expect(both.kind === "found" && both.addresses.map(String)).toEqual([
      "93.184.216.34",
      "2606:4700::1111",
    ]);
    expect(await resolve("six.zone")).toMatchObject({ kind: "found" });
  });

  it.each(["empty.zone", "unknown.zone"])("reports that %s has no address", async (name) => {
    expect(await resolve(name)).toEqual({ kind: "absent" });
  });

  // With half of the records missing, a blocked address could go unnoticed.
  it.each(["broken.zone", "odd.zone"])(
    "fails on an incomplete or invalid DNS response: %s",
    async (name) => {
      expect(await resolve(name)).toEqual({ kind: "failed" });
    },
  );

  it.each([
    "/status?status=500",
    "/echo",
    "/break",
    "/garbage",
    "/large?bytes=70000",
    "/redirect?to=/dns-query",
  ])("fails on a response from %s", async (path) => {
    expect(await resolve("public.zone", path)).toEqual({ kind: "failed" });
  });
});
