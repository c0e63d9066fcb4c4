import { describe, expect, it } from "vitest";

import { parseXml } from "../../src/lib/xml.ts";
import { encodeUtf8 } from "../../src/git/byte-text.ts";
import { visit } from "../support/call.ts";
import { History } from "../support/commits.ts";
import { make } from "../support/make.ts";
import { storeRefs } from "../support/push.ts";

const BRANCH = "some/branch#1";

async function makeCommitted() {
  const repo = await make.repo(await make.user());
  const history = new History();
  const first = history.commit({ files: { "a b.txt": "1" }, message: "Begin <here>\n" });
  const oid = history.commit({
    files: { "a b.txt": "1", c: "2" },
    parents: [first],
    message: "Go on\n\nWith & more.\n",
  });
  await storeRefs(
    repo,
    [
      { ref: `refs/heads/${BRANCH}`, oid },
      { ref: "refs/tags/v1", oid },
    ],
    history.build(),
  );
  return { path: `/${repo.owner}/${repo.name}`, first, oid };
}

describe.each(["rss", "atom"])("the feed of commits: %s", (format) => {
  it("lists those of a branch, the newest first, as its pages link to it", async () => {
    const { path, first, oid } = await makeCommitted();
    const url = `${path}/${format}/branch/some/branch%231`;
    const { status, headers, body } = await visit("GET", url);
    expect(status).toBe(200);
    expect(headers.get("Content-Type")).toBe(`application/${format}+xml; charset=utf-8`);
    const text = String(body);
    expect(await parseXml(encodeUtf8(text))).toBeDefined();
    expect(text).toContain("Begin &lt;here&gt;");
    expect(text).toContain(format === "rss" ? "With &amp;amp; more." : "With &amp; more.");
    const [newest, oldest] = [oid, first].map((id) =>
      text.indexOf(`https://forge.example${path}/commit/${id}`),
    );
    expect(newest).toBeGreaterThan(0);
    expect(oldest).toBeGreaterThan(newest ?? 0);
    const page = await visit("GET", `${path}/commits/branch/some/branch%231`, {
      headers: { Accept: "text/html" },
    });
    expect(page.body).toContain(`href="${path}/atom/branch/some/branch%231">Feed</a>`);
    const same = { "If-None-Match": headers.get("ETag") ?? "" };
    expect(await visit("GET", url, { headers: same })).toMatchObject({ status: 304, body: "" });
  });

  it("lists those that changed a path", async () => {
    const { path, first, oid } = await makeCommitted();
    const { body } = await visit("GET", `${path}/${format}/branch/some/branch%231/a%20b.txt`);
    expect(body).toContain(first);
    expect(body).not.toContain(oid);
    expect(body).toContain("Commits of a b.txt on some/branch#1");
  });

  it.each(["none", "some/branch%231/none", "v1"])("is absent for %s", async (name) => {
    const { path } = await makeCommitted();
    expect((await visit("GET", `${path}/${format}/branch/${name}`)).status).toBe(404);
  });
});
