// Regular expressions suffice instead of a parser, since the project's documents have one style.

/** The links of a document, without its code. */
export function linksOf(markdown: string): string[] {
  const text = withoutFences(markdown).replaceAll(/`[^`\n]*`/g, "code");
  const inline = [...text.matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)];
  const references = [...text.matchAll(/^\[[^\]]+\]:\s*<?(\S+?)>?\s*$/gm)];
  return [...inline, ...references].map((match) => match[1] ?? "");
}

/**
 * The anchors that a forge generates from the headings: lower case, hyphens, numbered when
 * repeated.
 */
export function anchorsOf(markdown: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ""] of withoutFences(markdown).matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)) {
    const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const slug = text.replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(/\s/g, "-");
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count++) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  for (const [, id = ""] of markdown.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(id);
  return anchors;
}

const sourceFile = /\.(?:ts|tsx|js|json|toml|md|sql|sh|html|css|yml|yaml)$/;

/**
 * The code spans that name a path of this repository: they begin with a top-level name, or have a
 * slash and the extension of a source file. Patterns and placeholders (`src/<noun>.ts`) are
 * skipped.
 */
export function namedPathsOf(
  markdown: string,
  { tracked, generated }: { tracked: Set<string>; generated: Set<string> },
): string[] {
  const spans = [...withoutFences(markdown).matchAll(/`([^`\n]+)`/g)].map(
    (match) => match[1] ?? "",
  );
  return spans
    .map((span) => span.replace(/^\.\//, "").replace(/:\d+$/, ""))
    .filter((path) => /^[\w.@-]+(?:\/[\w.@-]+)+\/?$/.test(path) && !path.includes(".."))
    .filter((path) => {
      const first = path.split("/")[0] ?? "";
      return !generated.has(first) && (tracked.has(first) || sourceFile.test(path));
    });
}

/**
 * The paths of the directory tree in a README: the first fenced block in which a line starts with
 * `src/`. A level is two spaces or a drawn branch; names are separated from other text by two or
 * more spaces.
 */
export function treeOf(markdown: string): string[] {
  const block = fencesOf(markdown).find((fence) => /^src\/(?:\s|$)/m.test(fence)) ?? "";
  const paths: string[] = [];
  const parents: { depth: number; path: string }[] = [];
  for (const line of block.split("\n")) {
    const plain = line.replaceAll(/[│├└─]/g, " ");
    const depth = plain.search(/\S/);
    if (depth < 0) continue;
    while (parents.length > 0 && (parents.at(-1)?.depth ?? 0) >= depth) parents.pop();
    const parent = parents.at(-1)?.path ?? "";
    const names = plain
      .trim()
      .split(/\s{2,}/)
      .filter((cell) => /^[\w.@-]+(?:\/|\.\w+)$/.test(cell));
    for (const name of names) paths.push(parent + name);
    if (names[0]?.endsWith("/")) parents.push({ depth, path: parent + names[0] });
  }
  return paths;
}

const fence = /^(`{3,}|~{3,})[^\n]*\n([\s\S]*?)^\1[ \t]*$/gm;

function fencesOf(markdown: string): string[] {
  return [...markdown.matchAll(fence)].map((match) => match[2] ?? "");
}

function withoutFences(markdown: string): string {
  return markdown.replaceAll(fence, "");
}
