import { describe, expect, it } from "vitest";

import { RemoteFailure } from "../../../src/outgoing/remote-failure.ts";
import { parseGitHubAddress } from "../../../src/forges/github/github-address.ts";
import { requiresTwoFactors } from "../../../src/forges/two-factors.ts";
import type { GitHubBehaviour } from "../../support/forges/github.ts";
import { ALL, NOW, openSample, readAll } from "../../support/forges/github-reader.ts";

const RESET_AT = Date.UTC(2024, 5, 1);

async function failureOf(work: Promise<unknown>): Promise<RemoteFailure> {
  try {
    await work;
  } catch (error) {
    if (error instanceof RemoteFailure) return error;
    throw error;
  }
  throw new Error("nothing failed");
}

describe("credentials", () => {
  const behaviour: GitHubBehaviour = { token: "t0ken" };

  it("are a token, with the headers that GitHub asks for", async () => {
    const { reader, requests } = await openSample({ password: "t0ken", behaviour });
    await reader.readPage("labels", undefined, ALL);
    expect(await requests()).toMatchObject([
      {
        status: 200,
        authorization: "Bearer t0ken",
        accept: "application/vnd.github+json",
        version: "2022-11-28",
        userAgent: "Edgeforge",
      },
    ]);
  });

  it("are a name and a password, as servers of old take them", async () => {
    const { reader, requests } = await openSample({
      username: "ada",
      password: "t0ken",
      behaviour,
    });
    await reader.readProject();
    expect((await requests())[0]?.authorization).toBe(`Basic ${btoa("ada:t0ken")}`);
  });

  it("are none for a public repository", async () => {
    const { reader, requests } = await openSample();
    await reader.readProject();
    expect((await requests())[0]?.authorization).toBe("");
  });

  it("that are wrong are distinguished from a repository that is not found", async () => {
    const { reader: wrong } = await openSample({ password: "other", behaviour });
    const failure = await failureOf(wrong.readProject());
    expect(failure).toMatchObject({ kind: "unauthorized" });
    expect(failure.message).not.toContain("other");
    expect(requiresTwoFactors(failure)).toBe(false);
    const { reader: none } = await openSample({ behaviour });
    expect(await failureOf(none.readProject())).toMatchObject({ kind: "not_found" });
  });

  it("that require a second factor are distinguished", async () => {
    const { reader } = await openSample({
      username: "ada",
      password: "secret",
      behaviour: { password: "secret" },
    });
    const failure = await failureOf(reader.readProject());
    expect(failure.kind).toBe("unauthorized");
    expect(requiresTwoFactors(failure)).toBe(true);
  });
});

describe("rate limits", () => {
  it("are reported with the time at which they end", async () => {
    const { reader } = await openSample({ behaviour: { allowance: 1 } });
    await reader.readProject();
    const failure = await failureOf(reader.readPage("labels", undefined, ALL));
    expect(failure).toMatchObject({ kind: "rate_limited", retryAt: RESET_AT });
  });

  it.each([403, 429])("that are secondary are recognized by %d with their time", async (status) => {
    const fault = { status, headers: { "Retry-After": "90" }, body: "{}" };
    const { reader } = await openSample({ behaviour: { failEvery: 1, fault } });
    const failure = await failureOf(reader.readProject());
    expect(failure).toMatchObject({ kind: "rate_limited", retryAt: NOW + 90_000 });
  });

  it("that are secondary last a minute if GitHub does not say how long", async () => {
    const message = "You have exceeded a secondary rate limit. Please wait a few minutes";
    const fault = {
      status: 403,
      headers: { "X-RateLimit-Reset": "" },
      body: JSON.stringify({ message }),
    };
    const { reader } = await openSample({ behaviour: { failEvery: 1, fault } });
    const failure = await failureOf(reader.readProject());
    expect(failure).toMatchObject({ kind: "rate_limited", retryAt: NOW + 60_000 });
  });
});

describe("failures of the server", () => {
  it("at every tenth request change nothing in what is read", async () => {
    const { reader: whole } = await openSample();
    const { reader, requests } = await openSample({ behaviour: { failEvery: 10 } });
    for (const kind of ["issues", "pulls", "comments", "reviews"] as const) {
      const expected = (await readAll(whole, kind)).map(({ foreignId }) => foreignId);
      expect((await readAll(reader, kind)).map(({ foreignId }) => foreignId)).toEqual(expected);
    }
    const failed = (await requests()).filter(({ status }) => status === 502);
    expect(failed.length).toBeGreaterThan(2);
  });

  it("that do not pass are reported as such", async () => {
    const { reader } = await openSample({ behaviour: { failEvery: 1 } });
    const failure = await failureOf(reader.readProject());
    expect(failure).toMatchObject({ kind: "server", mayPass: true });
  });
});

const page = (fields: object) => [
  {
    id: 1,
    number: 1,
    title: "x",
    labels: [],
    user: null,
    locked: false,
    state: "open",
    created_at: "2024-01-01T00:00:00Z",
    updated_at: "2024-01-01T00:00:00Z",
    ...fields,
  },
];

describe("answers that are not what GitHub documents", () => {
  it("would be read if they were", async () => {
    const { reader } = await openSample({ behaviour: { answers: { issues: page({}) } } });
    expect(await readAll(reader, "issues")).toMatchObject([{ number: 1, title: "x" }]);
  });

  it.each([
    { what: "no list", answer: { message: "hello" } },
    { what: "null for a list", answer: null },
    { what: "a number that is a text", answer: page({ number: "1" }) },
    { what: "the number 0", answer: page({ number: 0 }) },
    { what: "no title", answer: page({ title: null }) },
    { what: "a time that is none", answer: page({ created_at: "yesterday" }) },
    { what: "an unknown state", answer: page({ state: "ajar" }) },
    { what: "a user without a name", answer: page({ user: { id: 1 } }) },
    { what: "an id that is no integer", answer: page({ id: 1.5 }) },
  ])("fail as such: $what", async ({ answer }) => {
    const { reader } = await openSample({ behaviour: { answers: { issues: answer } } });
    const failure = await failureOf(reader.readPage("issues", undefined, ALL));
    expect(failure).toMatchObject({ kind: "protocol" });
  });

  it("fail as such: a page of HTML", async () => {
    const fault = { status: 200, headers: { "Content-Type": "text/html" }, body: "<p>Sign in" };
    const { reader } = await openSample({ behaviour: { failEvery: 1, fault } });
    const failure = await failureOf(reader.readPage("issues", undefined, ALL));
    expect(failure).toMatchObject({ kind: "protocol" });
  });

  it("fail as such: a page that leads to itself", async () => {
    const headers = { Link: '<https://elsewhere.example/x?page=2>; rel="next"' };
    const fault = { status: 200, headers, body: JSON.stringify(page({})) };
    const { reader } = await openSample({ behaviour: { failEvery: 1, fault } });
    const { next } = await reader.readPage("issues", undefined, ALL);
    const failure = await failureOf(reader.readPage("issues", next, ALL));
    expect(failure).toMatchObject({ kind: "protocol" });
  });

  it("fail as such: a page that leads back", async () => {
    const headers = { Link: '<https://elsewhere.example/x?page=1>; rel="next"' };
    const fault = { status: 200, headers, body: JSON.stringify(page({})) };
    const { reader } = await openSample({ behaviour: { failEvery: 1, fault } });
    const failure = await failureOf(reader.readPage("issues", undefined, ALL));
    expect(failure).toMatchObject({ kind: "protocol" });
  });

  it("end at a page without items, though it leads on", async () => {
    const fault = { status: 200, headers: { Link: '<?page=2>; rel="next"' }, body: "[]" };
    const { reader } = await openSample({ behaviour: { failEvery: 1, fault } });
    const { items, next } = await reader.readPage("issues", undefined, ALL);
    expect([items, next]).toEqual([[], undefined]);
  });
});

describe("parseGitHubAddress", () => {
  it.each([
    ["https://github.com/octo/app", "https://api.github.com"],
    ["https://github.com/octo/app.git", "https://api.github.com"],
    ["http://www.GitHub.com/octo/app/", "https://api.github.com"],
    ["https://github.com./octo/app.git/", "https://api.github.com"],
    ["https://acme.ghe.com/octo/app.git", "https://api.acme.ghe.com"],
    ["https://git.acme.example:8443/octo/app.git", "https://git.acme.example:8443/api/v3"],
    ["https://notgithub.com/octo/app", "https://notgithub.com/api/v3"],
  ])("finds the API of %s", (url, apiUrl) => {
    expect(parseGitHubAddress(url)).toEqual({ apiUrl, path: "/repos/octo/app" });
  });

  it.each([
    "https://github.com/",
    "https://github.com/octo",
    "https://github.com/octo/.git",
    "https://github.com/octo/app/tree/main",
    "https://github.com/octo/a%2Fb",
    "https://github.com/octo/%2e%2e%2f",
    "no address",
  ])("refuses %s", (url) => {
    expect(() => parseGitHubAddress(url)).toThrow(RemoteFailure);
  });
});
