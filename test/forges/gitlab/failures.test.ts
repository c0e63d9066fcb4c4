import { describe, expect, it } from "vitest";

import type { ForeignKind } from "../../../src/forges/forge.ts";
import { openGitLab } from "../../../src/forges/gitlab/open-gitlab.ts";
import {
  ALL,
  fail,
  NOW,
  openSample,
  outgoing,
  readAll,
} from "../../support/forges/gitlab-reader.ts";

const KINDS = [
  "labels",
  "milestones",
  "issues",
  "pulls",
  "comments",
  "reviews",
  "releases",
] as const satisfies ForeignKind[];

describe("a project that can't be read", () => {
  it.each([
    ["hidden from strangers", { password: "" }, "not_found"],
    ["hidden from an account", { password: "glpat-stranger" }, "not_found"],
    ["missing", { path: "garden/none" }, "not_found"],
    ["asked for with a wrong token", { password: "hunter2" }, "unauthorized"],
  ])("is %s", async (_, options, kind) => {
    const { reader } = openSample(options);
    await expect(reader.readProject()).rejects.toMatchObject({ kind });
    await expect(reader.readPage("labels", undefined, ALL)).rejects.toMatchObject({ kind });
  });

  it("never shows the token in its reason", async () => {
    const { reader } = openSample({ password: "hunter2-secret" });
    const error: unknown = await reader.readProject().catch((reason: unknown) => reason);
    expect(String(error)).toContain("401");
    expect(String(error)).not.toContain("hunter2");
  });

  it("is on a network that may not be reached", async () => {
    const address = { url: "http://10.0.0.1/group/project", username: "", password: "" };
    const reader = openGitLab({ outgoing, now: () => NOW }, address);
    await expect(reader.readProject()).rejects.toMatchObject({ kind: "blocked" });
  });
});

describe("a server that fails", () => {
  it.each([
    ["429", { kind: "rate_limited", retryAt: NOW + 30_000 }],
    ["503", { kind: "server" }],
    ["html", { kind: "protocol" }],
    ["break", { kind: "unreachable" }],
  ])("with %s is reported", async (answer, failure) => {
    const { reader, token } = openSample({ numbering: "45.11" });
    await fail(token, { every: 1, answers: [answer] });
    await expect(reader.readPage("issues", undefined, ALL)).rejects.toMatchObject(failure);
    await fail(token, null);
    expect((await reader.readPage("issues", undefined, ALL)).items).toHaveLength(19);
  });

  // An import repeats a step that met a failure which may pass: each must get further.
  it.each(KINDS)("at every tenth answer gives all %s", { timeout: 60_000 }, async (kind) => {
    const expected = await readAll(kind);
    const { reader, token } = openSample({ numbering: "45.11" });
    await fail(token, { every: 10, answers: ["429", "503", "break"] });
    const items: unknown[] = [];
    const failures: unknown[] = [];
    let cursor: string | undefined;
    let isDone = false;
    do {
      const read = reader.readPage(kind, cursor, ALL);
      const page = await read.catch((error: unknown) => void failures.push(error));
      items.push(...(page?.items ?? []));
      if (page) cursor = page.next;
      else if (failures.length > 20) break;
      isDone = page !== undefined && cursor === undefined;
    } while (!isDone);
    expect(items).toEqual(expected);
    expect(failures.filter((error) => !(error as { mayPass?: boolean }).mayPass)).toEqual([]);
  });

  it("ends a page before the item that it failed for", async () => {
    const { reader, token } = openSample({ numbering: "45.11" });
    await fail(token, { every: 9, answers: ["429"] });
    const page = await reader.readPage("issues", undefined, ALL);
    expect(page.items.length).toBeGreaterThan(0);
    expect(page.items.length).toBeLessThan(10);
    expect(page.next).toBeDefined();
  });
});
