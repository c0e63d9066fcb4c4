import { parseAccept } from "hono/utils/accept";

import { escapeHtml, formatAttributes } from "../../render/html.ts";
import type { ProjectFile } from "./project-files.ts";

/**
 * The version of the interface that the documents follow: sizes, upload times and versions are
 * shown.
 */
const API_VERSION = "1.1";
const JSON_TYPE = "application/vnd.pypi.simple.v1+json";
const HTML_TYPE = "application/vnd.pypi.simple.v1+html";
const ACCEPT_LENGTH_MAX = 4096;

/** The forms of an index, by the types that clients ask for. */
const TYPES = {
  "text/html": "text/html",
  [HTML_TYPE]: HTML_TYPE,
  "application/vnd.pypi.simple.latest+html": HTML_TYPE,
  [JSON_TYPE]: JSON_TYPE,
  "application/vnd.pypi.simple.latest+json": JSON_TYPE,
} as const;
/** The type of an index. */
export type SimpleType = (typeof TYPES)[keyof typeof TYPES];

const isJsonType = (type: SimpleType): boolean => type === JSON_TYPE;

/**
 * Chooses the form of an index.
 *
 * @param format The parameter of the URL that stands in for the header.
 * @returns Undefined if the client accepts none.
 * @see "Simple repository API", "Version + Format Selection" (PEP 691).
 */
export function chooseSimpleType(
  accept: string | undefined,
  format: string | undefined,
): SimpleType | undefined {
  const accepted = parseAccept((format || accept || "*/*").slice(0, ACCEPT_LENGTH_MAX));
  for (const { type, q } of accepted) {
    if (q === 0) continue;
    const known = TYPES[type.toLowerCase() as keyof typeof TYPES];
    if (known) return known;
    const isRefused = accepted.some((each) => each.q === 0 && each.type === "text/html");
    if ((type === "*/*" || type === "text/*") && !isRefused) return "text/html";
  }
  return undefined;
}

/** The names of all projects. @see "Simple repository API" (PEP 503, PEP 691). */
export function formatProjectList(names: readonly string[], rootUrl: string, type: SimpleType) {
  if (isJsonType(type)) {
    const projects = names.map((name) => ({ name }));
    return JSON.stringify({ meta: { "api-version": API_VERSION }, projects });
  }
  const links = names.map(
    (name) => `<a href="${escapeHtml(`${rootUrl}/${name}/`)}">${escapeHtml(name)}</a><br>`,
  );
  return formatPage("Simple index", "Simple index", links);
}

/** The files of a project. @see "Simple repository API" (PEP 503, 592, 658, 691, 700 and 714). */
export function formatProject(
  { name, nameKey }: { readonly name: string; readonly nameKey: string },
  files: readonly ProjectFile[],
  type: SimpleType,
): string {
  if (isJsonType(type)) {
    return JSON.stringify({
      meta: { "api-version": API_VERSION },
      name: nameKey,
      versions: [...new Set(files.map(({ version }) => version))],
      files: files.map(toSimpleFile),
    });
  }
  const title = `Links for ${name}`;
  return formatPage(title, title, files.map(formatLink));
}

/**
 * The attributes of the core metadata: their digest, under the name of PEP 714 and the older one of
 * PEP 658.
 */
const metadataOf = ({ coreMetadataSha256 }: ProjectFile) =>
  coreMetadataSha256 === "" ? false : { sha256: coreMetadataSha256 };

const toSimpleFile = (file: ProjectFile) => ({
  filename: file.name,
  url: file.url,
  hashes: { sha256: file.sha256 },
  ...(file.requiresPython !== "" && { "requires-python": file.requiresPython }),
  size: file.sizeBytes,
  "upload-time": new Date(file.uploadedAt).toISOString(),
  yanked: file.isYanked && (file.yankReason || true),
  "core-metadata": metadataOf(file),
  "dist-info-metadata": metadataOf(file),
});

function formatLink(file: ProjectFile): string {
  const metadata = file.coreMetadataSha256 === "" ? undefined : `sha256=${file.coreMetadataSha256}`;
  const attributes = formatAttributes({
    href: `${file.url}#sha256=${file.sha256}`,
    "data-requires-python": file.requiresPython || undefined,
    "data-core-metadata": metadata,
    "data-dist-info-metadata": metadata,
    "data-yanked": file.isYanked ? file.yankReason : undefined,
  });
  return `<a${attributes}>${escapeHtml(file.name)}</a><br>`;
}

function formatPage(title: string, heading: string, lines: readonly string[]): string {
  return [
    "<!DOCTYPE html>",
    "<html>",
    "<head>",
    `<meta name="pypi:repository-version" content="${API_VERSION}">`,
    `<title>${escapeHtml(title)}</title>`,
    "</head>",
    `<body><h1>${escapeHtml(heading)}</h1>`,
    ...lines,
    "</body>",
    "</html>",
    "",
  ].join("\n");
}
