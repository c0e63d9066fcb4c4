import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join, posix } from "node:path";

import { renderMarkup } from "../../src/render/markup.ts";
import { inProject } from "../project.ts";

/**
 * The documents that the service serves below /docs: those for users, then those for operators.
 * What contributors need alone is not among them.
 */
const DOCUMENTS: Readonly<Record<string, readonly string[]>> = {
  Using: [
    "docs/pages.md",
    "docs/sign-in.md",
    "docs/access.md",
    "docs/organizations.md",
    "docs/git.md",
    "docs/issues.md",
    "docs/pulls.md",
    "docs/merge-queue.md",
    "docs/protection.md",
    "docs/templates.md",
    "docs/releases.md",
    "docs/mirrors.md",
    "docs/migration.md",
    "docs/migration/gitlab.md",
  ],
  Packages: [
    "docs/packages/README.md",
    ...[
      "cargo",
      "composer",
      "container",
      "debian",
      "generic",
      "go",
      "helm",
      "maven",
      "npm",
      "nuget",
      "pypi",
      "rubygems",
    ].map((name) => `docs/packages/${name}.md`),
  ],
  Programs: [
    "docs/api.md",
    "docs/compatibility.md",
    "docs/oauth2.md",
    "docs/actions.md",
    "docs/webhooks.md",
    "docs/events.md",
  ],
  Operating: [
    "docs/deploy.md",
    "docs/configuration.md",
    "docs/administration.md",
    "docs/audit.md",
    "docs/mail.md",
    "docs/limits.md",
    "SHORTCOMINGS.md",
    "CHANGELOG.md",
  ],
};

const paths = Object.values(DOCUMENTS).flat();

/** What `buildDocuments` reads. */
export const documentSources = [
  ...paths,
  "docs/images",
  "src/render",
  "scripts/build/documents.ts",
];

/** A heading of a document, by the id that links name. */
interface Heading {
  id: string;
  text: string;
  depth: number;
}

/**
 * The name of a document below /docs: `packages/npm`, `packages` of the README of a folder,
 * `changelog`.
 */
const nameOf = (path: string): string =>
  path
    .replace(/^docs\//, "")
    .replace(/\/README\.md$|\.md$/, "")
    .toLowerCase();

const names = new Map(paths.map((path) => [path, nameOf(path)]));

/** Renders links as what they are in the repository, to be replaced. */
const HERE = "https://here.invalid";

/**
 * Renders the documents by the service's own renderer: each as JSON with its title, its headings
 * and its HTML, and their list as `index.json`.
 */
export async function buildDocuments(directory: string): Promise<void> {
  const images = new Set<string>();
  const titles = new Map<string, string>();
  for (const [path, name] of names) {
    const source = await readFile(inProject(path), "utf8");
    const folder = posix.dirname(path);
    const html = await renderMarkup(source, {
      mode: "file",
      rootUrl: HERE,
      links: { linkBase: HERE, rawBase: HERE, folder: folder === "." ? "" : folder },
      filePath: path,
    });
    const document = toDocument(html, images);
    titles.set(path, document.title);
    const target = join(directory, `${name}.json`);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, JSON.stringify(document));
  }
  const groups = Object.entries(DOCUMENTS).map(([heading, list]) => ({
    heading,
    documents: list.map((path) => ({ name: names.get(path), title: titles.get(path) })),
  }));
  await writeFile(join(directory, "index.json"), JSON.stringify({ groups }));
  for (const image of images) {
    const target = join(directory, "images", basename(image));
    await mkdir(dirname(target), { recursive: true });
    await copyFile(inProject(image), target);
  }
}

function toDocument(rendered: string, images: Set<string>) {
  const [, title = ""] = /<h1[^>]*>(.*?)<\/h1>/s.exec(rendered) ?? [];
  const html = rendered
    // A table without headings has cells of none.
    .replaceAll("<th></th>", "<td></td>")
    .replaceAll(/(id|href)="(#?)user-content-/g, '$1="$2')
    .replaceAll(/<a href="https:\/\/here\.invalid\/([^"#]*)(#[^"]*)?"[^>]*>(.*?)<\/a>/gs, toLink)
    .replaceAll(/src="https:\/\/here\.invalid\/([^"]*)"/g, (_, path: string) => {
      images.add(path);
      return `src="/-/docs/images/${basename(path)}"`;
    });
  const headings = [...html.matchAll(/<h([23]) id="([^"]+)"[^>]*>(.*?)<\/h\1>/gs)].map(
    ([, depth, id = "", text = ""]): Heading => ({ id, text: toText(text), depth: Number(depth) }),
  );
  return { title: toText(title), headings, html };
}

/**
 * A link to another document; the text alone of one that is not served, or to an image's file.
 */
function toLink(_: string, path: string, fragment = "", text: string): string {
  const name = names.get(decodeURI(path).replace(/\/$/, "/README.md"));
  if (name === undefined) return text;
  return `<a href="/docs/${name}${fragment}">${text}</a>`;
}

const toText = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&")
    .trim();
