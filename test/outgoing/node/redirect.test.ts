import { describe, expect, it } from "vitest";

import { secretNames } from "../../../src/outgoing/outgoing-headers.ts";
import { type Hop, redirected } from "../../../src/outgoing/redirect.ts";

const HEADERS = {
  Authorization: "Basic x",
  Cookie: "a=b",
  "PRIVATE-TOKEN": "x",
  "X-Hub-Signature-256": "sha256=x",
  "Content-Type": "application/json",
  "X-Gitea-Event": "push",
};
const OPEN = ["content-type", "x-gitea-event"];
const ALL = [
  "authorization",
  "content-type",
  "cookie",
  "private-token",
  "x-gitea-event",
  "x-hub-signature-256",
];

const hop = (method = "POST"): Hop => ({ method, headers: new Headers(HEADERS), body: "{}" });
const isSecret = secretNames(["X-Hub-Signature-256"]);
const follow = (from: string, to: string, status = 307, first = hop()) =>
  redirected(first, status, new URL(from), new URL(to), isSecret);
const namesOf = ({ headers }: Hop) => [...headers.keys()].toSorted();

describe("redirected", () => {
  it.each([
    ["https://a.example/x", "https://a.example/y"],
    ["http://a.example/", "https://a.example/"],
    ["http://a.example:80/", "https://a.example:443/"],
  ])("keeps secrets from %s to %s", (from, to) => {
    expect(namesOf(follow(from, to))).toEqual(ALL);
  });

  it.each([
    ["https://a.example/", "https://b.example/"],
    ["https://a.example/", "https://x.a.example/"],
    ["https://x.a.example/", "https://a.example/"],
    ["https://a.example/", "http://a.example/"],
    ["https://a.example/", "https://a.example:8443/"],
    ["http://a.example:8080/", "https://a.example/"],
    ["http://a.example/", "https://a.example:8443/"],
    ["https://a.example/", "https://a.example./"],
  ])("drops secrets from %s to %s", (from, to) => {
    expect(namesOf(follow(from, to))).toEqual(OPEN);
  });

  it("does not restore dropped secrets on a redirect back to the first host", () => {
    const there = follow("https://a.example/", "https://b.example/");
    expect(namesOf(follow("https://b.example/", "https://a.example/", 307, there))).toEqual(OPEN);
  });

  it.each([
    ["POST", 301, "GET"],
    ["POST", 302, "GET"],
    ["POST", 303, "GET"],
    ["PUT", 303, "GET"],
    ["PUT", 301, "PUT"],
    ["POST", 307, "POST"],
    ["POST", 308, "POST"],
    ["HEAD", 303, "HEAD"],
  ])(
    "turns %s after %d into %s, and keeps the body only if the method stays",
    (method, status, next) => {
      const second = follow("https://a.example/", "https://a.example/y", status, hop(method));
      expect(second.method).toBe(next);
      expect(second.body).toBe(next === method ? "{}" : undefined);
      expect(second.headers.has("Content-Type")).toBe(next === method);
    },
  );
});
