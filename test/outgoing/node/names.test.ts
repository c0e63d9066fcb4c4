import { afterEach, describe, expect, it, vi } from "vitest";

import { parseHostList } from "../../../src/lib/host-list.ts";
import { parseIpAddress } from "../../../src/lib/ip-address.ts";
import type { NameResolver, Resolution } from "../../../src/outgoing/name-resolver.ts";
import { Outgoing } from "../../../src/outgoing/outgoing.ts";

/** Also what only a network allows. */
const EVERYWHERE = "external, private, loopback, 0.0.0.0/8, ::/96";

const LIMITS = { timeoutMs: 5000, bodyBytesMax: 100, redirectsMax: 3 };

/**
 * Addresses of the resolver's names. Other names have no address; resolving a name with "failed."
 * fails.
 */
const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  "public.example.com": ["93.184.216.34", "2606:4700::1111"],
  "office.example.com": ["10.0.0.1"],
  "mixed.example.com": ["93.184.216.34", "10.0.0.1"],
  "loop.example.com": ["127.0.0.1"],
  "metadata.example.com": ["169.254.169.254"],
  "translated.example.com": ["64:ff9b::a00:1"],
};

function resolverOf(resolved: string[]): NameResolver {
  return {
    resolve: (name) => {
      resolved.push(name);
      const addresses = (ADDRESSES[name] ?? []).flatMap((text) => parseIpAddress(text) ?? []);
      const answer: Resolution =
        addresses.length > 0
          ? { kind: "found", addresses }
          : { kind: name.startsWith("failed.") ? "failed" : "absent" };
      return Promise.resolve(answer);
    },
  };
}

/**
 * Opens a client, and records the URLs it requests and the names it resolves. `answer` makes the
 * responses.
 */
function open(
  allowed = "external",
  blocked = "",
  ownUrls: readonly string[] = [],
  answer: (url: string) => Response = () => new Response("hello"),
) {
  const sent: string[] = [];
  const resolved: string[] = [];
  vi.stubGlobal("fetch", (url: URL) => {
    sent.push(url.href);
    return Promise.resolve(answer(url.href));
  });
  const lists = { allowed: parseHostList(allowed), blocked: parseHostList(blocked) };
  if (!lists.allowed || !lists.blocked) throw new Error("a list is wrong");
  const rules = { allowed: lists.allowed, blocked: lists.blocked, ownUrls };
  return { sent, resolved, outgoing: new Outgoing(rules, resolverOf(resolved), "Edgeforge") };
}

const to = (location: string) => new Response(null, { status: 302, headers: { location } });

const OWN = "this is the service's own address";

afterEach(() => vi.unstubAllGlobals());

describe("an outgoing request", () => {
  it.each([
    ["external", "", "public.example.com"],
    ["external", "", "PUBLIC.example.com."],
    ["external", "", "93.184.216.34"],
    ["external", "10.0.0.0/8", "public.example.com"],
    ["private", "", "office.example.com"],
    ["10.0.0.0/8", "", "office.example.com"],
    ["office.example.com", "", "office.example.com"],
    ["*.example.com", "", "mixed.example.com"],
    ["*", "", "mixed.example.com"],
    ["loopback", "", "loop.example.com"],
    ["loopback", "", "localhost"],
    ["loopback", "", "a.localhost"],
    ["loopback", "", "[::1]"],
    // A listed name may exist only in the operator's own network.
    ["git.corp", "", "git.corp"],
    ["gitserver", "", "gitserver"],
    ["169.254.0.0/16", "", "metadata.example.com"],
  ])("allowed %j, blocked %j: sends to %s", async (allowed, blocked, host) => {
    const { outgoing, sent } = open(allowed, blocked);
    const outcome = await outgoing.fetchGuarded(`http://${host}/`, {}, LIMITS);
    expect(outcome).toMatchObject({ kind: "answered", status: 200 });
    expect(sent).toHaveLength(1);
    expect(await outgoing.check(`http://${host}/`, 1000)).toBeUndefined();
  });

  it.each([
    ["external", "", "127.0.0.1"],
    ["external", "", "2130706433"],
    ["external", "", "[::ffff:127.0.0.1]"],
    ["external", "", "localhost"],
    ["external", "", "LOCALHOST."],
    ["external", "", "a.localhost"],
    ["external", "", "office.example.com"],
    // One blocked address blocks the name.
    ["external", "", "mixed.example.com"],
    ["external", "", "loop.example.com"],
    ["external", "", "metadata.example.com"],
    ["external", "", "translated.example.com"],
    ["external", "", "metadata.google.internal"],
    ["external", "", "printer.local"],
    ["external", "", "gitserver"],
    ["*", "", "gitserver"],
    ["*", "", "loop.example.com"],
    ["*", "", "metadata.example.com"],
    // A listed name may not resolve to a loopback address or to a cloud metadata service.
    ["*.example.com", "", "loop.example.com"],
    ["*.example.com", "", "metadata.example.com"],
    ["private, 64:ff9b::/96", "10.0.0.0/8", "translated.example.com"],
    ["*", "public.example.com", "public.example.com"],
    ["*", "*.example.com", "public.example.com"],
    ["*", "93.184.0.0/16", "public.example.com"],
    ["external", "*", "public.example.com"],
    ["", "", "public.example.com"],
  ])("allowed %j, blocked %j: does not send to %s", async (allowed, blocked, host) => {
    const { outgoing, sent } = open(allowed, blocked);
    const outcome = await outgoing.fetchGuarded(`http://${host}/`, {}, LIMITS);
    expect(outcome).toMatchObject({ kind: "blocked" });
    expect(sent).toEqual([]);
    expect(await outgoing.check(`http://${host}/`, 1000)).toEqual(outcome);
  });

  it.each(["unknown.example.com", "failed.example.com"])(
    "is not sent to a name without a known address: %s",
    async (host) => {
      const { outgoing, sent } = open();
      const outcome = await outgoing.fetchGuarded(`https://${host}/`, {}, LIMITS);
      expect(outcome).toMatchObject({ kind: "network" });
      expect(sent).toEqual([]);
    },
  );

  // Listed names may be unknown to the resolver, but a failing resolver does not bypass the check.
  it("is not sent to a listed name if the resolver fails", async () => {
    const { outgoing, sent } = open("failed.example.com");
    const outcome = await outgoing.fetchGuarded("https://failed.example.com/", {}, LIMITS);
    expect(outcome).toMatchObject({ kind: "network" });
    expect(sent).toEqual([]);
  });

  it.each([
    ["https://public.example.com", "https://public.example.com/x", true],
    ["https://public.example.com", "http://public.example.com:8080/x", true],
    ["http://127.0.0.1:8787", "http://localhost:8787/", true],
    ["http://localhost:8787", "http://[::1]:8787/", true],
    ["http://127.0.0.1:8787", "http://127.0.0.1:9000/", false],
    ["https://other.example.com", "https://public.example.com/", false],
    ["http://127.0.0.1:8787", "http://a.localhost:8787/", true],
    ["http://127.0.0.1:8787", "http://127.9.9.9:8787/", true],
    ["http://127.0.0.1:8787", "http://0.0.0.0:8787/", true],
    ["http://127.0.0.1:8787", "http://0:8787/", true],
    ["http://127.0.0.1:8787", "http://[::]:8787/", true],
    ["http://127.0.0.1:8787", "http://[::ffff:127.0.0.1]:8787/", true],
    ["http://127.0.0.1:8787", "http://[::7f00:1]:8787/", true],
    ["http://[::]:8787", "http://127.0.0.1:8787/", true],
    ["http://10.0.0.1:8787", "http://10.0.0.1:8787/", true],
    ["http://10.0.0.1:8787", "http://10.0.0.1:9000/", false],
    ["http://10.0.0.1", "https://10.0.0.1/", true],
    // A name that only resolves to the service.
    ["http://127.0.0.1:8787", "http://loop.example.com:8787/", true],
    ["http://127.0.0.1:8787", "http://loop.example.com:9000/", false],
    ["http://10.0.0.1:8787", "http://office.example.com:8787/", true],
    ["http://10.0.0.1:8787", "http://mixed.example.com:8787/", true],
    ["http://93.184.216.34", "https://public.example.com/", true],
  ])("of the service at %s to %s is blocked as its own: %s", async (ownUrl, url, isOwn) => {
    const { outgoing, sent } = open(EVERYWHERE, "", ["", ownUrl]);
    const outcome = await outgoing.fetchGuarded(url, {}, LIMITS);
    expect(outcome).toMatchObject(
      isOwn ? { kind: "blocked", reason: OWN } : { kind: "answered", status: 200 },
    );
    expect(sent).toHaveLength(isOwn ? 0 : 1);
  });

  it("resolves no names for addresses and localhost", async () => {
    const { outgoing, resolved } = open();
    for (const host of ["127.0.0.1", "[::1]", "localhost", "a.localhost", "0x7f.1"]) {
      await outgoing.fetchGuarded(`http://${host}/`, {}, LIMITS);
    }
    expect(resolved).toEqual([]);
  });
});

describe("a redirect", () => {
  it("is checked like the first URL, at each hop", async () => {
    const { outgoing, sent, resolved } = open("external", "", [], (url) =>
      url.endsWith("/1") ? to("/2") : url.endsWith("/2") ? to("//mixed.example.com/") : to("x"),
    );
    const outcome = await outgoing.fetchGuarded("http://public.example.com/1", {}, LIMITS);
    expect(outcome).toMatchObject({ kind: "blocked" });
    expect(sent).toEqual(["http://public.example.com/1", "http://public.example.com/2"]);
    expect(resolved).toEqual(["public.example.com", "public.example.com", "mixed.example.com"]);
  });

  it.each(["http://127.0.0.1:8787/", "http://forge.example.com/", "//loop.example.com:8787/"])(
    "to the service itself is not followed: %s",
    async (location) => {
      const own = ["http://forge.example.com", "http://127.0.0.1:8787"];
      const { outgoing, sent } = open(EVERYWHERE, "", own, () => to(location));
      const outcome = await outgoing.fetchGuarded("http://public.example.com/", {}, LIMITS);
      expect(outcome).toEqual({ kind: "blocked", reason: OWN });
      expect(sent).toHaveLength(1);
    },
  );

  it.each([
    "http://127.0.0.1/",
    "http://0177.1/",
    "file:///etc/passwd",
    "http://user:x@public.example.com/",
    "http://169.254.169.254/latest/meta-data/",
    "http://public.example.com:22/",
    "http://[",
    "\\\\127.0.0.1\\x",
  ])("to %s is not followed", async (location) => {
    const { outgoing, sent } = open("external", "", [], () => to(location));
    const outcome = await outgoing.fetchGuarded("https://public.example.com/", {}, LIMITS);
    expect(outcome).toMatchObject({ kind: "blocked" });
    expect(sent).toHaveLength(1);
  });
});
