/**
 * `npm run pictures`: the pictures of pages in docs/images, drawn by Chromium from a service with
 * made-up data, which is removed at the end.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { chromium } from "playwright-core";

import { inProject, projectRoot } from "./project.ts";
import { runScript } from "./refusal.ts";

const USER = "ada";
const PASSWORD = "correct horse battery";
const FOLDER = inProject("docs/images");

/** Pictures by the name of their file. */
const PICTURES = [
  { name: "repository", path: "/weavers/loom", width: 1280, height: 860, colorScheme: "light" },
  {
    name: "diff",
    path: "/weavers/loom/compare/v1.0.0...main",
    width: 1280,
    height: 860,
    colorScheme: "light",
  },
  { name: "phone", path: "/weavers/loom", width: 390, height: 780, colorScheme: "dark" },
] as const;

const SOURCE = `import { Thread } from "./thread.ts";

/** Weaves threads into cloth. */
export class Loom {
  private readonly rows: Thread[] = [];

  /** Adds a row. */
  weave(thread: Thread): void {
    this.rows.push(thread);
  }

  get length(): number {
    return this.rows.length;
  }
}
`;

const FILES = {
  "README.md":
    "# Loom\n\nWeaves threads into cloth, on any machine.\n\n```sh\nnpm install loom\nnpx loom pattern.txt\n```\n\n| Pattern | Rows |\n|---|---|\n| plain | 2 |\n| twill | 4 |\n",
  "package.json": '{\n  "name": "loom",\n  "version": "1.0.0",\n  "type": "module"\n}\n',
  "src/loom.ts": SOURCE,
  "src/thread.ts": "export interface Thread {\n  color: string;\n}\n",
  "patterns/twill.txt": "1 2\n2 3\n3 4\n4 1\n",
  "docs/patterns.md": "# Patterns\n\nA pattern is a text.\n",
  ".editorconfig": "root = true\n",
};

const EDITED = SOURCE.replace(
  "Adds a row.",
  "Adds a row; one without a color is not woven.",
).replace(
  "    this.rows.push(thread);",
  '    if (thread.color === "") return;\n    this.rows.push(thread);',
);

await runScript(async () => {
  const data = mkdtempSync(join(tmpdir(), "edgeforge-pictures-"));
  const child = spawn(process.execPath, [inProject("scripts/serve.ts")], {
    cwd: projectRoot,
    env: {
      ...process.env,
      EDGEFORGE_PORT: "0",
      EDGEFORGE_DATA: data,
      EDGEFORGE_ADMIN_USER: USER,
      EDGEFORGE_ADMIN_PASSWORD: PASSWORD,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  try {
    let origin = "";
    for await (const line of createInterface(child.stdout)) {
      origin = /^listening on (\S+)$/.exec(line)?.[1] ?? "";
      if (origin) break;
    }
    await layData(origin);
    await draw(origin);
  } finally {
    child.kill();
    await ended;
    rmSync(data, { recursive: true, force: true });
  }
});

/** An organization with a repository that has files, a release and a change since then. */
async function layData(origin: string): Promise<void> {
  const send = async (method: string, path: string, json: object): Promise<unknown> => {
    const answer = await fetch(`${origin}/api/v1${path}`, {
      method,
      headers: {
        Authorization: `Basic ${btoa(`${USER}:${PASSWORD}`)}`,
        "Content-Type": "application/json",
      },
      body: JSON.stringify(json),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  };
  const path = "/repos/weavers/loom";
  await send("POST", "/orgs", { username: "weavers", full_name: "The Weavers" });
  await send("POST", "/orgs/weavers/repos", {
    name: "loom",
    description: "Weaves threads into cloth",
  });
  await send("PUT", `${path}/topics`, { topics: ["weaving", "patterns"] });
  const files = Object.entries(FILES).map(([file, text]) => ({
    operation: "create",
    path: file,
    content: btoa(text),
  }));
  await send("POST", `${path}/contents`, { files, message: "Weave the first cloth" });
  await send("POST", `${path}/releases`, { tag_name: "v1.0.0", name: "The first cloth" });
  const { sha } = (await (await fetch(`${origin}/api/v1${path}/contents/src/loom.ts`)).json()) as {
    sha: string;
  };
  await send("PUT", `${path}/contents/src/loom.ts`, {
    content: btoa(EDITED),
    sha,
    message: "Leave out threads without a color",
  });
}

async function draw(origin: string): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  const browser = await chromium.launch({
    executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
  try {
    for (const { name, path, width, height, colorScheme } of PICTURES) {
      const page = await browser.newPage({ viewport: { width, height }, colorScheme });
      await page.goto(origin + path, { waitUntil: "networkidle" });
      // The languages of a repository are counted after its first visit.
      await page.reload({ waitUntil: "networkidle" });
      await page.screenshot({ path: join(FOLDER, `${name}.png`) });
      await page.close();
    }
  } finally {
    await browser.close();
  }
}
