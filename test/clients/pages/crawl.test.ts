import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Parser } from "htmlparser2";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { inProject } from "../../../scripts/project.ts";
import { startService } from "../../scripts/support/service.ts";
import { administratorOf, PASSWORD } from "./administrator.ts";

// A reader who follows every link finds no page that is missing, broken, or a dead end.

const REPOSITORIES = 20;
/** More addresses than these would be a trap: links that lead to ever new ones. */
const ADDRESSES_MAX = 10_000;
const AT_ONCE = 4;

let data: string;
let service: Awaited<ReturnType<typeof startService>>;

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), "edgeforge-crawl-"));
  service = await startService(
    { path: inProject(".") },
    { EDGEFORGE_DATA: data, EDGEFORGE_ADMIN_USER: "root", EDGEFORGE_ADMIN_PASSWORD: PASSWORD },
  );
  await layRepositories();
});
afterAll(async () => {
  await service?.stop();
  if (data) rmSync(data, { recursive: true, force: true });
});

/** Repositories of a user and of an organization that differ in what their pages show. */
async function layRepositories(): Promise<void> {
  const callAsRoot = administratorOf(service.url);
  await callAsRoot("POST", "/orgs", { username: "guild" });
  for (let at = 0; at < REPOSITORIES; at++) {
    const owner = at % 4 === 3 ? "guild" : "root";
    const name = `repo-${at}`;
    const path = `/repos/${owner}/${name}`;
    await callAsRoot("POST", owner === "guild" ? "/orgs/guild/repos" : "/user/repos", {
      name,
      description: `Number ${at} & more`,
      auto_init: at % 5 !== 4,
      private: at % 7 === 6,
      template: at % 6 === 5,
    });
    await callAsRoot("PUT", `${path}/topics`, { topics: ["edge", `topic-${at % 3}`] });
    if (at % 5 === 4) continue;
    const files = Object.entries(FILES).map(([file, text]) => ({
      operation: "create",
      path: file,
      content: Buffer.from(text).toString("base64"),
    }));
    await callAsRoot("POST", `${path}/contents`, { files, message: "Add files" });
    await callAsRoot("POST", `${path}/branches`, { new_branch_name: "feature/a#b%c" });
    await callAsRoot("POST", `${path}/releases`, { tag_name: "v1", name: "One", body: "**New**" });
    if (at % 8 === 7) await callAsRoot("PATCH", path, { archived: true });
  }
  await callAsRoot("POST", "/repos/root/repo-0/forks", { organization: "guild", name: "fork" });
  await callAsRoot("PUT", "/user/starred/root/repo-1", {});
}

const FILES: Readonly<Record<string, string>> = {
  "docs/guide #1.md": "# Guide\n\n[up](../README.md) ![picture](../picture.svg)\n",
  "src/a%20b.ts": "export const a = 1;\n",
  "table.csv": "a,b\n1,2\n",
  "picture.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>',
};

/** The addresses of this service that a page leads to or loads. */
function linksOf(html: string, base: string): string[] {
  const links: string[] = [];
  const parser = new Parser({
    onopentag(name, { href, src, action, method = "get" }) {
      if (name === "form" && method.toLowerCase() !== "get") return;
      for (const link of [href, src, name === "form" ? action : undefined]) {
        if (link !== undefined) links.push(link);
      }
    },
  });
  parser.end(html);
  return links
    .map((link) => new URL(link, base))
    .filter(({ origin }) => origin === new URL(base).origin)
    .map(({ pathname, search }) => pathname + search);
}

/** Follows every link from the first page on. @returns How many, and those that lead nowhere. */
async function crawl(headers: Record<string, string>) {
  const found = new Map<string, string>([["/", "the start"]]);
  const queue = ["/"];
  const faults: string[] = [];
  const visit = async (path: string): Promise<void> => {
    const answer = await fetch(service.url + path, {
      headers: { Accept: "text/html", ...headers },
      redirect: "manual",
    });
    const isPage = answer.headers.get("Content-Type")?.startsWith("text/html") ?? false;
    const body = await answer.text();
    const location = answer.headers.get("Location");
    if (answer.status >= 400 || (isPage && !location && !body.includes('href="/"'))) {
      faults.push(`${answer.status} ${path}, from ${found.get(path)}`);
    }
    const links = isPage ? linksOf(body, service.url + path) : [];
    for (const link of location === null ? links : linksOf(`<a href="${location}">`, service.url)) {
      if (found.has(link) || isLeft(link)) continue;
      found.set(link, path);
      queue.push(link);
    }
  };
  while (queue.length > 0 && found.size < ADDRESSES_MAX) {
    await Promise.all(queue.splice(0, AT_ONCE).map(visit));
  }
  return { count: found.size, faults, paths: [...found.keys()] };
}

/** Addresses that this walk leaves out: the interface description, which is no page of ours. */
const isLeft = (path: string): boolean => path.startsWith("/api/");

/** Signs in by the form. @returns The cookie of the session. */
async function signIn(): Promise<string> {
  const page = await fetch(`${service.url}/user/login`);
  const token = /name="_csrf" value="([^"]+)"/.exec(await page.text())?.[1] ?? "";
  const answer = await fetch(`${service.url}/user/login`, {
    method: "POST",
    headers: { Origin: service.url, Cookie: cookiesOf(page) },
    body: new URLSearchParams({ _csrf: token, user_name: "root", password: PASSWORD }),
    redirect: "manual",
  });
  expect(answer.status).toBe(303);
  return cookiesOf(answer);
}

const cookiesOf = ({ headers }: Response): string =>
  headers
    .getSetCookie()
    .map((line) => line.split(";", 1)[0])
    .join("; ");

describe("every link of every page", () => {
  it("leads a visitor to a page", async () => {
    const { count, faults, paths } = await crawl({});
    expect(faults).toEqual([]);
    expect(count).toBeLessThan(ADDRESSES_MAX);
    expect(paths).toContain("/guild/repo-3/src/branch/main/docs/guide%20%231.md");
    expect(paths.filter((path) => path.includes("repo-6"))).toEqual([]);
  });

  it("leads somebody who is signed in to a page", async () => {
    const { count, faults, paths } = await crawl({ Cookie: await signIn() });
    expect(faults).toEqual([]);
    expect(count).toBeLessThan(ADDRESSES_MAX);
    expect(paths).toContain("/root/repo-6");
  });
});
