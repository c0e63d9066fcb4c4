import { request } from "node:http";

import { expect, it } from "vitest";

import { admin, callApi, makeRepo, serviceUrl } from "../support/forge.ts";
import { git, makeDirectory } from "../support/git.ts";

/** Sends a path unchanged: `fetch` would resolve its dot segments. */
const get = (path: string): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(serviceUrl);
    const sent = request({ hostname, port, path: `/api/v1${path}` }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (piece: string) => (text += piece));
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    sent.on("error", reject).end();
  });

// A path with `..` resolves to a normal route, and must not bypass the guard of the repository.
it("a path with dot segments reaches nothing that its normalized form does not reach", async () => {
  const repo = await makeRepo();
  const directory = makeDirectory();
  await git(directory, ["init", "--quiet", "--initial-branch=main"]);
  await git(directory, ["commit", "--quiet", "--allow-empty", "--message=One"]);
  await git(directory, ["push", "--quiet", repo.ownUrl, "main"]);
  const { full_name: name } = await callApi<{ full_name: string }>(admin, "GET", repo.path);
  await callApi(admin, "PATCH", `/repos/${name}`, { private: true });
  const base = `/repos/${name}`;
  for (const rest of [
    "/contents/../../../../user",
    "/contents/%2e%2e/%2e%2e/%2e%2e/%2e%2e/user",
    "/raw/..%2f..%2f..%2fuser",
    "/git/trees/../trees/main",
    "/git/../git/commits/main",
    "/./branches/main",
    "//branches//main",
    "/branches/main/../main",
    "/contents/..\\..\\user",
    "/raw/.%2e/.%2e/a",
    "/contents/%00",
    "/compare/main...%2e%2e%2fmain",
  ]) {
    const { status, text } = await get(base + rest);
    // The caller is anonymous, so neither the user nor any of the repository is visible.
    expect([rest, status, text.includes("One")]).toEqual([rest, expect.toSatisfy(isHidden), false]);
  }
});

const isHidden = (status: number): boolean => status === 404 || status === 401 || status === 400;
