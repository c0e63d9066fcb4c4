import { describe, expect, it } from "vitest";

import {
  admin,
  callApi,
  freshName,
  makeRepo,
  makeUser,
  type Repo,
  serviceUrl,
  urlAs,
} from "../support/forge.ts";
import { startGitServer } from "../support/git-server.ts";
import { clone, commit, git, listRemote, makeWork, tryGit } from "../support/git.ts";

/** Background jobs of a busy machine. */
const PATIENCE = { timeout: 30_000, interval: 200 };

interface WikiPage {
  title: string;
  sub_url: string;
  content_base64: string;
  commit_count: number;
}

const wikiUrl = (url: string): string => url.replace(/\.git$/, ".wiki.git");
const encode = (text: string): string => Buffer.from(text).toString("base64");
const decode = (text: string): string => Buffer.from(text, "base64").toString();

const TOPICS = ["Build", "Test", "Deploy", "Monitor", "Back up", "Restore"];

/** A wiki as projects have it: twenty pages in two folders, with what stands beside them. */
const FILES: Readonly<Record<string, string>> = {
  "Home.md": `# The project\n\n![Overview](images/overview.svg)\n\n${TOPICS.map((topic) => `- [[${topic}|operators/${topic}]]`).join("\n")}\n`,
  "_Sidebar.md": "[[Home]]\n\n[[Questions & answers]]\n",
  "_Footer.md": "Written by everybody.\n",
  "Questions-&-answers.md": "## Why?\n\nBecause.\n",
  "2026-01-02 Meeting.-.md": "Notes of a meeting\n",
  "Übersicht.md": "Auf Deutsch\n",
  ...Object.fromEntries(
    TOPICS.map((topic) => [
      `operators/${topic.replaceAll(" ", "-")}.md`,
      `# ${topic}\n\nSee [the drawing](../images/overview.svg) and [[Home]].\n\n\`\`\`sh\nmake ${topic}\n\`\`\`\n`,
    ]),
  ),
  ...Object.fromEntries(
    Array.from({ length: 8 }, (_, at) => [
      `developers/Chapter-${at}.md`,
      `# Chapter ${at}\n\n${"A line of text.\n".repeat(at * 20)}`,
    ]),
  ),
  "images/overview.svg": "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>\n",
  "files/data.csv": "a,b\n1,2\n",
};
const PAGES = Object.keys(FILES).filter((path) => path.endsWith(".md"));

async function pushWiki(repo: Repo): Promise<string> {
  const work = await makeWork();
  await commit(work, FILES, "Write the wiki");
  await git(work, ["push", "--quiet", wikiUrl(repo.ownUrl), "main"]);
  return work;
}

/** All pages of a wiki by the API, each with its text. */
async function readPages(path: string): Promise<WikiPage[]> {
  const listed = await callApi<WikiPage[]>(admin, "GET", `${path}/wiki/pages?limit=50`);
  return Promise.all(
    listed.map(({ sub_url: address }) =>
      callApi<WikiPage>(admin, "GET", `${path}/wiki/page/${address.replaceAll("/", "%2F")}`),
    ),
  );
}

describe("the wiki of a repository, by git", () => {
  it("is the pages that were pushed, one by one, in the API and in the browser", async () => {
    const repo = await makeRepo();
    await pushWiki(repo);
    expect(PAGES).toHaveLength(20);

    const pages = await readPages(repo.path);
    expect(pages.map(({ content_base64: text }) => decode(text)).toSorted()).toEqual(
      PAGES.map((path) => FILES[path]).toSorted(),
    );
    for (const { sub_url: address, title, content_base64: text } of pages) {
      const answer = await fetch(`${serviceUrl}/${repo.owner}/${repo.name}/wiki/${address}`);
      expect([address, answer.status, answer.redirected]).toEqual([address, 200, false]);
      const html = await answer.text();
      expect(html).toContain(title.replaceAll("&", "&amp;"));
      const headings = Array.from(decode(text).matchAll(/^#+ (.*)$/gm), ([, each]) => each);
      for (const heading of headings) expect(html).toContain(`>${heading}</h`);
    }
  });

  it("leads by all links and images of its pages to what exists", async () => {
    const repo = await makeRepo();
    await pushWiki(repo);
    const root = `${serviceUrl}/${repo.owner}/${repo.name}/wiki`;
    const seen = new Set<string>();
    for (const { sub_url: address } of await readPages(repo.path)) {
      const html = await (await fetch(`${root}/${address}`)).text();
      for (const [, url = ""] of html.matchAll(/(?:href|src)="([^"#]*\/wiki\/[^"#]*)"/g)) {
        seen.add(new URL(url.replaceAll("&amp;", "&"), serviceUrl).href);
      }
    }
    expect(seen.size).toBeGreaterThan(25);
    for (const url of seen) {
      if (/action=_(?:edit|new|delete)/.test(url)) continue;
      const answer = await fetch(url);
      expect([url, answer.status]).toEqual([url, 200]);
      expect(answer.url).not.toContain("missing=");
      await answer.arrayBuffer();
    }
  });

  it.each(["0", "1", "2"])(
    "is cloned and fetched by version %s of the protocol",
    async (version) => {
      const repo = await makeRepo();
      const work = await pushWiki(repo);
      const config = ["-c", `protocol.version=${version}`];
      const copy = await clone(wikiUrl(repo.url), "-c", `protocol.version=${version}`);
      expect(await git(copy, ["rev-parse", "HEAD"])).toBe(await git(work, ["rev-parse", "HEAD"]));
      const next = await commit(work, { "Home.md": "# Anew\n" });
      await git(work, [...config, "push", "--quiet", wikiUrl(repo.ownUrl), "main"]);
      await git(copy, [...config, "pull", "--quiet"]);
      expect(await git(copy, ["rev-parse", "HEAD"])).toBe(next);
      expect(await listRemote(repo.url)).toEqual([]);
    },
  );

  it("has what the API wrote, and the API has what git wrote", async () => {
    const repo = await makeRepo();
    // An empty wiki is cloned, too: so its first page is pushed.
    const empty = await clone(wikiUrl(repo.ownUrl));
    await git(empty, ["checkout", "--quiet", "-b", "trunk"]);
    await commit(empty, { "Home.md": "By git\n" }, "First");
    await git(empty, ["push", "--quiet", "origin", "trunk"]);
    await callApi(admin, "POST", `${repo.path}/wiki/new`, {
      title: "Second page",
      content_base64: encode("By the API\n"),
      message: "Add it",
    });
    await git(empty, ["pull", "--quiet", "origin", "trunk"]);
    expect(await git(empty, ["show", "HEAD:Second-page.md"])).toBe("By the API");
    expect(await git(empty, ["log", "-1", "--format=%an %s"])).toBe(`${admin.name} Add it`);
    await git(empty, ["mv", "Second-page.md", "Third-page.md"]);
    await git(empty, ["commit", "--quiet", "-am", "Rename"]);
    await git(empty, ["push", "--quiet", "origin", "trunk"]);
    const pages = await readPages(repo.path);
    expect(pages.map(({ title }) => title)).toEqual(["Home", "Third page"]);
    // Also after git has renamed a page, its old address leads to it.
    const root = `${serviceUrl}/${repo.owner}/${repo.name}/wiki`;
    expect((await fetch(`${root}/Second-page`)).url).toBe(`${root}/Third-page`);
  });

  it("refuses readers, objects that git refuses, and pushes that lack what the wiki has", async () => {
    const repo = await makeRepo();
    const reader = await makeUser();
    const work = await pushWiki(repo);
    const head = await git(work, ["rev-parse", "HEAD"]);
    await commit(work, { "Home.md": "# Changed\n" });
    const asReader = urlAs(wikiUrl(repo.url), reader.name, reader.password);
    const refused = await tryGit(work, ["push", asReader, "main"]);
    expect(refused.output).toContain("403");
    await git(work, ["commit", "--quiet", "--amend", "--message", "other"]);
    await git(work, ["checkout", "--quiet", "--orphan", "fresh"]);
    await git(work, ["commit", "--quiet", "--message", "fresh"]);
    const late = await tryGit(work, ["push", wikiUrl(repo.ownUrl), "fresh:main"]);
    expect(late.output).toContain("non-fast-forward");
    const deleted = await tryGit(work, ["push", wikiUrl(repo.ownUrl), "--delete", "main"]);
    expect(deleted.output).toContain("main");
    expect(deleted.code).not.toBe(0);
    expect(await listRemote(wikiUrl(repo.url))).toEqual([
      `${head}\tHEAD`,
      `${head}\trefs/heads/main`,
    ]);
  });
});

describe("the wiki of a repository elsewhere", () => {
  it("comes with a migration, and stays away without being asked for", async () => {
    const server = await startGitServer("reader", "secret");
    const name = freshName("source");
    await server.create(name);
    await server.create(`${name}.wiki`);
    const work = await makeWork();
    await commit(work, { "README.md": "# Code\n" });
    await git(work, ["push", "--quiet", urlAs(server.url(name), "reader", "secret"), "main"]);
    const wiki = await makeWork();
    await commit(wiki, FILES);
    await git(wiki, [
      "push",
      "--quiet",
      urlAs(server.url(`${name}.wiki`), "reader", "secret"),
      "main",
    ]);
    const migrate = async (fields: object) => {
      const made = freshName("migrated");
      const path = `/repos/${admin.name}/${made}`;
      await callApi(admin, "POST", "/repos/migrate", {
        clone_addr: server.url(name),
        auth_username: "reader",
        auth_password: "secret",
        repo_name: made,
        ...fields,
      });
      const readState = async () =>
        (await callApi<{ state: string }>(admin, "GET", `${path}/migration`)).state;
      await expect.poll(readState, PATIENCE).toBe("done");
      return { path, url: `${serviceUrl}/${admin.name}/${made}.wiki.git` };
    };

    const withWiki = await migrate({ wiki: true });
    const pages = await readPages(withWiki.path);
    expect(pages.map(({ content_base64: text }) => decode(text)).toSorted()).toEqual(
      PAGES.map((path) => FILES[path]).toSorted(),
    );
    const without = await migrate({ wiki: false });
    expect(await listRemote(without.url)).toEqual([]);

    const mirror = await migrate({ wiki: true, mirror: true, mirror_interval: "8h0m0s" });
    const next = await commit(wiki, { "Home.md": "# Later\n" });
    await git(wiki, [
      "push",
      "--quiet",
      urlAs(server.url(`${name}.wiki`), "reader", "secret"),
      "main",
    ]);
    await callApi(admin, "POST", `${mirror.path}/mirror-sync`);
    await expect
      .poll(() => listRemote(mirror.url), PATIENCE)
      .toEqual([`${next}\tHEAD`, `${next}\trefs/heads/main`]);
    const refused = await tryGit(wiki, [
      "push",
      urlAs(mirror.url, admin.name, admin.password),
      "main",
    ]);
    expect(refused.output).toContain("403");
  });

  it("is left out with a note where there is none", async () => {
    const server = await startGitServer("reader", "secret");
    const name = freshName("source");
    await server.create(name);
    const work = await makeWork();
    await commit(work, { "README.md": "# Code\n" });
    await git(work, ["push", "--quiet", urlAs(server.url(name), "reader", "secret"), "main"]);
    const made = freshName("migrated");
    await callApi(admin, "POST", "/repos/migrate", {
      clone_addr: server.url(name),
      auth_username: "reader",
      auth_password: "secret",
      repo_name: made,
      wiki: true,
    });
    const read = () =>
      callApi<{ state: string; notes: string[] }>(
        admin,
        "GET",
        `/repos/${admin.name}/${made}/migration`,
      );
    await expect.poll(async () => (await read()).state, PATIENCE).toBe("done");
    expect((await read()).notes).toEqual(["there is no wiki, or it is not shown"]);
  });
});
