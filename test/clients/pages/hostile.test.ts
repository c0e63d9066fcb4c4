import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Browser, BrowserContext } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { inProject } from "../../../scripts/project.ts";
import { startService } from "../../scripts/support/service.ts";
import { administratorOf, type Call, PASSWORD } from "./administrator.ts";
import { browserPath, launch, openTab } from "./browser.ts";

// What users write is shown as text, or without what could run: in Chromium nothing runs, nothing
// is refused by the policy of the page, and nothing is loaded from elsewhere.

const TAGS = "\"'></title></textarea><script>alert(1)</script><img src=x onerror=alert(1)>";
/** As the name of a file or a ref may be. */
const NAME = "'\"><img src=x onerror=alert(1)>{{alert(1)}}";
const BRANCH = "\"'><svg/onload=alert(1)>";
const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script><a href="javascript:alert(1)"><text y="9">picture</text></a></svg>';
const MARKDOWN = `# ${TAGS}

[link](javascript:alert(1)) <a href="JAVA&#115;cript:alert(1)">link</a> ![image](x "${TAGS}")

<svg onload=alert(1)></svg><iframe srcdoc="<script>alert(1)</script>"></iframe>
<form action="javascript:alert(1)"><button>press</button></form><style>@import "/x"</style>

| ${TAGS} |
| --- |
| <details open ontoggle=alert(1)>text</details> |

\`\`\`${TAGS}
${TAGS}
\`\`\`
`;
const NOTEBOOK = JSON.stringify({
  cells: [
    { cell_type: "markdown", source: [MARKDOWN], metadata: {} },
    {
      cell_type: "code",
      source: [TAGS],
      metadata: {},
      outputs: [{ output_type: "display_data", data: { "text/html": [TAGS] }, metadata: {} }],
    },
  ],
  metadata: {},
  nbformat: 4,
  nbformat_minor: 5,
});

const FILES: Readonly<Record<string, string>> = {
  "README.md": MARKDOWN,
  [`${NAME}/${NAME}.js`]: `const text = "${TAGS}";\n`,
  [`${NAME}.csv`]: `${JSON.stringify(TAGS)},b\n=1+1,${TAGS}\n`,
  [`${NAME}.svg`]: SVG,
  [`${NAME}.ipynb`]: NOTEBOOK,
  [`${NAME}.html`]: TAGS,
};

let data: string;
let service: Awaited<ReturnType<typeof startService>>;
let browser: Browser;
let context: BrowserContext;

beforeAll(async () => {
  if (browserPath === undefined) return;
  data = mkdtempSync(join(tmpdir(), "edgeforge-hostile-"));
  service = await startService(
    { path: inProject(".") },
    { EDGEFORGE_DATA: data, EDGEFORGE_ADMIN_USER: "root", EDGEFORGE_ADMIN_PASSWORD: PASSWORD },
  );
  await layTraps(administratorOf(service.url));
  browser = await launch();
  context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${service.url}/user/login`);
  await page.getByLabel("User name or e-mail address").fill("root");
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(`${service.url}/`);
  await page.close();
});
afterAll(async () => {
  await browser?.close();
  await service?.stop();
  if (data) rmSync(data, { recursive: true, force: true });
});

async function layTraps(call: Call): Promise<void> {
  const texts = { full_name: TAGS, description: TAGS, location: NAME };
  await call("PATCH", "/user/settings", texts);
  await call("POST", "/orgs", { username: "guild", ...texts });
  await call("POST", "/user/repos", { name: "trap", description: TAGS });
  const author = { name: "'\"&lt;img src=x onerror=alert(1)&gt;", email: "mallory@example.org" };
  const commit = (files: Readonly<Record<string, string>>, more: object) =>
    call("POST", "/repos/root/trap/contents", {
      files: Object.entries(files).map(([path, text]) => ({
        operation: "create",
        path,
        content: Buffer.from(text).toString("base64"),
      })),
      message: `${TAGS}\n\n${MARKDOWN}`,
      author,
      ...more,
    });
  await commit(FILES, {});
  await commit({ "other.md": MARKDOWN }, { new_branch: BRANCH, branch: "main" });
  await call("POST", "/repos/root/trap/tags", { tag_name: BRANCH, message: TAGS });
  await call("POST", "/repos/root/trap/releases", {
    tag_name: `${BRANCH}2`,
    name: TAGS,
    body: MARKDOWN,
  });
  await call("POST", "/repos/root/trap/statuses/main", {
    state: "failure",
    context: TAGS,
    description: TAGS,
    target_url: "https://ci.example.org/?q=%22%3E",
  });
}

const at = (...names: string[]): string =>
  names.flatMap((name) => name.split("/").map(encodeURIComponent)).join("/");
const CODE = "/root/trap";
const paths = Object.keys(FILES).map((path) => at(path));

/** Pages that show the traps, and an address that names one. */
const PAGES = [
  "/",
  `/explore/repos?q=${encodeURIComponent(TAGS)}`,
  `/explore/users?q=${encodeURIComponent(TAGS)}`,
  "/root?tab=overview",
  "/root?tab=activity",
  "/guild",
  CODE,
  `${CODE}/src/branch/${at(BRANCH)}`,
  `${CODE}/src/branch/main/${at(NAME)}`,
  ...paths.map((path) => `${CODE}/src/branch/main/${path}`),
  ...paths.map((path) => `${CODE}/src/branch/main/${path}?display=source`),
  ...paths.map((path) => `${CODE}/blame/branch/main/${path}`),
  ...paths.map((path) => `${CODE}/raw/branch/main/${path}`),
  `${CODE}/find/branch/main?q=${encodeURIComponent("img")}`,
  `${CODE}/search?q=${encodeURIComponent("<script>")}`,
  `${CODE}/commits/branch/${at(BRANCH)}`,
  `${CODE}/commits/branch/main/search?q=${encodeURIComponent("<script>")}`,
  `${CODE}/commit/main`,
  `${CODE}/commit/main?style=split`,
  `${CODE}/compare/main...${at(BRANCH)}`,
  `${CODE}/graph`,
  `${CODE}/branches`,
  `${CODE}/tags`,
  `${CODE}/releases`,
  `${CODE}/activity`,
  `${CODE}/activity/contributors`,
  `${CODE}/fork`,
  `/${at(TAGS)}`,
  `${CODE}/src/branch/${at(TAGS)}`,
];

describe.skipIf(browserPath === undefined)("what users write", () => {
  it.each(PAGES)("runs nowhere: %s", async (path) => {
    const { page, complaints } = await openTab(context);
    const foreign: string[] = [];
    page.on("dialog", (dialog) => {
      complaints.push(`a script ran: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("request", (request) => {
      if (!request.url().startsWith(`${service.url}/`)) foreign.push(request.url());
    });
    await page.goto(service.url + path).catch(ignoreDownload);
    await page.waitForLoadState("networkidle");
    expect({ complaints, foreign }).toEqual({ complaints: [], foreign: [] });
    await page.close();
  });

  it.each([
    [CODE, "alert(1)</script>"],
    [CODE, NAME],
    [`${CODE}/commits/branch/main`, "</title></textarea><script>alert(1)</script>"],
    [`${CODE}/branches`, BRANCH],
    [`${CODE}/releases`, TAGS],
    ["/root?tab=overview", TAGS],
  ])("is shown as text: %s, %s", async (path, text) => {
    const page = await context.newPage();
    await page.goto(service.url + path);
    expect(await page.locator("body").innerText()).toContain(text);
    await page.close();
  });

  it("is found as one types", async () => {
    const { page, complaints } = await openTab(context);
    await page.goto(`${service.url}${CODE}/find/branch/main`);
    await page.locator("input[data-paths]").fill("img");
    await page.locator("#found a", { hasText: NAME }).first().click();
    expect(complaints).toEqual([]);
    await page.close();
  });
});

/** A file that the browser stores instead of showing it. */
function ignoreDownload(error: unknown): void {
  if (!String(error).includes("Download is starting")) throw error;
}
