import { z } from "zod";

import { formatToolCall } from "../agents/tool-call.ts";
import type { Request } from "../api/cases.ts";
import type { StartedService } from "../support/started-service.ts";
import { type Caller, OWNER } from "./caller.ts";

/** A door of the service, and a usual request that comes in by it. */
export type Door = { name: string; status: number; next: () => Request };

const REPOSITORY = "profiled";
/** Pull requests of the repository. */
const PULLS = 5;
const PACKAGE = `/api/packages/${OWNER}/generic/tool/1.0/tool.txt`;
const GIT_HEADERS = {
  "content-type": "application/x-git-upload-pack-request",
  "git-protocol": "version=2",
};
const LFS_TYPE = "application/vnd.git-lfs+json";
const FORM_TYPE = "application/x-www-form-urlencoded";

/**
 * Makes what the requests of the doors need: a repository with a commit, a package and the session
 * of a browser.
 */
export async function openDoors(
  { origin, password }: StartedService,
  { token, send }: Caller,
): Promise<Door[]> {
  await send("POST", "/api/v1/user/repos", {
    name: REPOSITORY,
    auto_init: true,
    default_branch: "main",
  });
  await send("PUT", PACKAGE, "the file of a package\n");
  const repository = `/api/v1/repos/${OWNER}/${REPOSITORY}`;
  const main = await send("GET", `${repository}/branches/main`);
  const { commit } = z.object({ commit: z.object({ id: z.string() }) }).parse(main);
  for (let at = 0; at < PULLS; at += 1) {
    const branch = `change-${at}`;
    await send("POST", `${repository}/contents/change-${at}.txt`, {
      content: btoa(`change ${at}\n`),
      new_branch: branch,
    });
    const pull = { title: `Change ${at}`, head: branch, base: "main" };
    await send("POST", `${repository}/pulls`, pull);
  }
  const cookie = await signIn(origin, password);
  let published = 0;

  const git = { method: "POST", path: `/${OWNER}/${REPOSITORY}.git/git-upload-pack`, token };
  const lsRefs = pkts("command=ls-refs\n", "0001", "peel\n", "symrefs\n", "0000");
  const fetchOne = pkts("command=fetch\n", "0001", `want ${commit.id}\n`, "done\n", "0000");
  const read = (name: string, request: Omit<Request, "method">): Door => ({
    name,
    status: 200,
    next: () => ({ method: "GET", ...request }),
  });
  const tool = formatToolCall(token, "read_file", {
    repository: `${OWNER}/${REPOSITORY}`,
    path: "README.md",
  });
  return [
    read("API read: repository, anonymous", { path: repository }),
    read("API read: repository", { path: repository, token }),
    read("API read: pull list", { path: `${repository}/pulls?state=open`, token }),
    {
      name: "API write: create issue",
      status: 201,
      next: () => ({
        method: "POST",
        path: `${repository}/issues`,
        token,
        body: JSON.stringify({ title: "An issue", body: "Its text" }),
      }),
    },
    {
      name: "git ls-refs",
      status: 200,
      next: () => ({ ...git, headers: GIT_HEADERS, body: lsRefs }),
    },
    {
      name: "git fetch",
      status: 200,
      next: () => ({ ...git, headers: GIT_HEADERS, body: fetchOne }),
    },
    {
      name: "Git LFS: batch of an upload",
      status: 200,
      next: () => ({
        method: "POST",
        path: `/${OWNER}/${REPOSITORY}.git/info/lfs/objects/batch`,
        token,
        headers: { accept: LFS_TYPE, "content-type": LFS_TYPE },
        body: JSON.stringify({ operation: "upload", objects: [{ oid: "a".repeat(64), size: 1 }] }),
      }),
    },
    read("package read", { path: PACKAGE, token }),
    {
      name: "package publication",
      status: 201,
      next: () => ({
        method: "PUT",
        path: PACKAGE.replace("/1.0/", `/2.${(published += 1)}/`),
        token,
        headers: { "content-type": "application/octet-stream" },
        body: "the file of a package\n",
      }),
    },
    read("feed of a repository", { path: `/${OWNER}/${REPOSITORY}.rss` }),
    read("page: settings", { path: "/user/settings/account", headers: { cookie } }),
    read("page: repository", { path: `/${OWNER}/${REPOSITORY}`, headers: { cookie } }),
    {
      name: "tool: read a file",
      status: 200,
      next: () => ({
        method: "POST",
        path: "/mcp",
        headers: { ...tool.headers, "content-type": "application/json" },
        body: JSON.stringify(tool.body),
      }),
    },
  ];
}

/**
 * Packets of git's protocol; markers of four digits stay as they are. @see gitprotocol-common(5)
 */
const pkts = (...lines: string[]): string =>
  lines
    .map((line) =>
      /^000[01]$/.test(line) ? line : `${(line.length + 4).toString(16).padStart(4, "0")}${line}`,
    )
    .join("");

/** Signs in as a browser does. @returns The cookies of the session. */
async function signIn(origin: string, password: string): Promise<string> {
  const page = await fetch(`${origin}/user/login`);
  const [, formToken = ""] = /name="_csrf" value="([^"]+)"/.exec(await page.text()) ?? [];
  const fields = new URLSearchParams({ _csrf: formToken, user_name: OWNER, password });
  const answer = await fetch(`${origin}/user/login`, {
    method: "POST",
    redirect: "manual",
    headers: { origin, cookie: cookiesOf(page), "content-type": FORM_TYPE },
    body: fields.toString(),
  });
  if (answer.status !== 303) throw new Error(`signing in was answered ${answer.status}`);
  return cookiesOf(answer);
}

const cookiesOf = ({ headers }: Response): string =>
  headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ");
