import { describe, expect, it } from "vitest";

import { FORGE_SERVICES } from "../../../src/db/schema/index.ts";
import type { ForeignKind } from "../../../src/forges/forge.ts";
import { openForge } from "../../../src/forges/open-forge.ts";
import {
  access,
  ALL,
  openGiteaSample,
  readAll,
  readPages,
} from "../../support/forges/gitea-reader.ts";
import { makeGiteaSample } from "../../support/forges/gitea-sample.ts";

const KINDS: readonly ForeignKind[] = [
  "labels",
  "milestones",
  "issues",
  "pulls",
  "comments",
  "reviews",
  "releases",
];

/**
 * What a reader reads, by ids: of a pull request's reviews each with its comments, of issues each
 * with its reactions.
 */
const whole = async (options: Parameters<typeof openGiteaSample>[0]) => {
  const { reader } = await openGiteaSample(options);
  const lists = [];
  for (const kind of KINDS) {
    for (const item of await readAll(reader, kind)) {
      const parts = "comments" in item ? item.comments : "reactions" in item ? item.reactions : [];
      lists.push(`${kind} ${item.foreignId} ${parts.length}`);
    }
  }
  return lists;
};

describe("pages", () => {
  it("have each item once, oldest first, and say how many there are", async () => {
    const { reader } = await openGiteaSample();
    const issues = await readPages(reader, "issues");
    expect(issues).toHaveLength(3);
    expect(issues.map(({ total }) => total)).toEqual([74, 74, 74]);
    const numbers = issues.flatMap(({ items }) => items.map(({ number }) => number));
    expect(numbers).toEqual(makeGiteaSample().issues.map(({ number }) => number));
    const comments = await readPages(reader, "comments");
    expect(comments).toHaveLength(3);
    const ids = comments.flatMap(({ items }) => items.map(({ foreignId }) => foreignId));
    expect(ids).toEqual(makeGiteaSample().comments.map(({ id }) => String(id)));
  });

  it.each(KINDS)("of %s take a bounded number of requests", async (kind) => {
    const { reader, requests } = await openGiteaSample();
    const pages = await readPages(reader, kind);
    let cursor: string | undefined;
    for (const { next } of pages) {
      const before = (await requests()).length;
      await reader.readPage(kind, cursor, ALL);
      expect((await requests()).length - before, `from ${cursor}`).toBeLessThanOrEqual(30);
      cursor = next;
    }
  });

  // Administrators lower the size of pages, and hide it where sign-in is required.
  it.each([1, 3, 7, 24, 49])("are read whole from a server with pages of %d", async (itemsMax) => {
    const expected = await whole({});
    expect(await whole({ behaviour: { itemsMax } })).toEqual(expected);
    expect(await whole({ behaviour: { itemsMax, hidesSettings: true } })).toEqual(expected);
  });

  it("are read by cursors that outlive the reader", async () => {
    const first = await openGiteaSample();
    const second = await openGiteaSample();
    for (const kind of KINDS) {
      for (const { next } of await readPages(first.reader, kind)) {
        if (next === undefined) continue;
        const here = await first.reader.readPage(kind, next, ALL);
        const there = await second.reader.readPage(kind, next, ALL);
        expect(there.items.map(({ foreignId }) => foreignId)).toEqual(
          here.items.map(({ foreignId }) => foreignId),
        );
      }
    }
  });

  // As versions before 1.13 do.
  it("are all of a list that ignores the page", async () => {
    const labels = Array.from({ length: 120 }, (_, index) => ({
      id: index + 1,
      name: "x",
      color: "",
    }));
    const { reader } = await openGiteaSample({ behaviour: { answers: { labels }, isUser: true } });
    expect(await readAll(reader, "labels")).toHaveLength(120);
  });

  it("miss nothing if issues are added or removed meanwhile", async () => {
    const { reader } = await openGiteaSample();
    const { next } = await reader.readPage("issues", undefined, ALL);
    expect(next).toBe("24/74");
    // As if there had been others when the first page was read.
    for (const total of [25, 30, 73, 75, 99, 200]) {
      const { items } = await reader.readPage("issues", `24/${total}`, ALL);
      expect(items[0]?.number, `of ${total}`).toBe(makeGiteaSample().issues[24]?.["number"]);
    }
  });

  it("are whole though every tenth answer is a failure", async () => {
    const expected = await whole({});
    expect(await whole({ behaviour: { failEvery: 10 } })).toEqual(expected);
  });
});

describe("failures", () => {
  const read = async (options: Parameters<typeof openGiteaSample>[0]) => {
    const { reader } = await openGiteaSample(options);
    return await reader.readPage("issues", undefined, ALL).then(
      () => "none",
      (error: unknown) => error,
    );
  };

  it.each([
    ["every answer is a failure", { failEvery: 1 }, "server"],
    [
      "there is a rate limit",
      { failEvery: 1, fault: { status: 429, headers: { "Retry-After": "90" } } },
      "rate_limited",
    ],
    [
      "a page of HTML is answered",
      { failEvery: 1, fault: { status: 200, body: "<html>" } },
      "protocol",
    ],
    ["an answer is of another shape", { answers: { issues: [{ id: 1 }] } }, "protocol"],
    ["the total is missing", { answers: { issues: [] } }, "protocol"],
    ["the project is private", { token: "right" }, "not_found"],
  ])("are reported if %s", async (_, behaviour, kind) => {
    expect(await read({ behaviour })).toMatchObject({ name: "RemoteFailure", kind });
  });

  it("are reported for credentials that are wrong, without these", async () => {
    const failure = await read({ behaviour: { token: "right" }, password: "wrong-token" });
    expect(failure).toMatchObject({ kind: "unauthorized" });
    expect(String(failure)).not.toContain("wrong-token");
  });

  it("are reported for a project that does not exist", async () => {
    expect(await read({ name: "nothing" })).toMatchObject({ kind: "not_found" });
  });
});

describe("credentials", () => {
  it("are a token, or a user name and a password", async () => {
    const token = await openGiteaSample({ behaviour: { token: "t" }, password: "t" });
    await token.reader.readProject();
    expect((await token.requests())[0]?.authorization).toBe("token t");
    const basic = await openGiteaSample({
      behaviour: { password: "ü" },
      username: "ada",
      password: "ü",
    });
    await basic.reader.readProject();
    expect((await basic.requests())[0]?.authorization).toBe("Basic YWRhOsO8");
    const none = await openGiteaSample();
    await none.reader.readProject();
    expect((await none.requests())[0]?.authorization).toBe("");
  });

  it("are sent to the forge's own addresses alone", async () => {
    const { reader, rootUrl } = await openGiteaSample({ password: "t" });
    const headers = { Authorization: "token t" };
    expect(reader.headersFor(`${rootUrl}/attachments/x`)).toEqual(headers);
    expect(reader.headersFor("https://files.example/attachments/x")).toEqual({});
    expect(reader.headersFor("nowhere")).toEqual({});
  });
});

describe("openForge", () => {
  it.each(["https://gitea.example", "https://gitea.example/only", "nowhere"])(
    "refuses %s, which is not the address of a project",
    (url) => {
      expect(() => openForge("gitea", access(), { url, username: "", password: "" })).toThrow(
        "the address is not that of a project",
      );
    },
  );

  it.each(FORGE_SERVICES)("opens the reader of %s, or none where git alone is read", (service) => {
    const address = { url: "https://forge.example/a/b", username: "", password: "" };
    const reader = openForge(service, access(), address);
    const known = ["gitea", "gogs"].includes(service) ? service : reader?.service;
    expect(reader?.service).toBe(service === "git" ? undefined : known);
  });
});
