import type { Context } from "hono";

import type { WorkState } from "../../../db/schema/index.ts";
import { listRuns } from "../../../domain/actions/runs/list-runs.ts";
import { escapeXml } from "../../../lib/xml.ts";
import type { WebEnv } from "../../env.ts";
import { enterActions } from "./enter.ts";

const WORDS: Readonly<Record<WorkState, string>> = {
  blocked: "waiting",
  waiting: "waiting",
  running: "running",
  success: "passing",
  failure: "failing",
  cancelled: "cancelled",
  skipped: "skipped",
};

/** White text on each has a contrast of at least 4.5 to 1. */
const COLORS: Readonly<Record<WorkState | "none", string>> = {
  blocked: "#6b5900",
  waiting: "#6b5900",
  running: "#6b5900",
  success: "#1a7335",
  failure: "#b3261e",
  cancelled: "#57606a",
  skipped: "#57606a",
  none: "#57606a",
};

/** Characters of the name of a workflow that a badge shows. */
const LABEL_CHARS_MAX = 60;
/** The usual width of a character, in pixels; the picture stretches its text to it. */
const CHAR_WIDTH = 6.5;
const PADDING = 10;

/**
 * Sends a picture with the state of the last run of a workflow: on the default branch, or `branch`,
 * by `event`. Workflows without a run have one too, and so has what is no workflow.
 */
export async function sendBadge(c: Context<WebEnv>): Promise<Response> {
  const { ctx, repo } = await enterActions(c);
  const file = c.req.param("file") ?? "";
  const {
    items: [last],
  } = await listRuns(
    ctx,
    {
      of: { repoId: repo.row.id },
      file,
      branch: c.req.query("branch") || repo.row.defaultBranch,
      event: c.req.query("event") || undefined,
    },
    { size: 1, offset: 0 },
  );
  const label = (last?.run.name ?? file).slice(0, LABEL_CHARS_MAX).toWellFormed();
  const word = last ? WORDS[last.run.state] : "no runs";
  const color = COLORS[last?.run.state ?? "none"];
  c.header("Content-Type", "image/svg+xml; charset=utf-8");
  c.header("Cache-Control", "private, no-cache");
  // SECURITY: opened alone, the picture must not run what a name might hold.
  c.header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'");
  return c.body(toBadge(label, word, color, c.req.query("style") !== "flat-square"));
}

/** A badge: two words in boxes. */
function toBadge(label: string, word: string, color: string, isRound: boolean): string {
  const widthOf = (text: string): number => Math.round(text.length * CHAR_WIDTH);
  const [left, right] = [widthOf(label) + PADDING * 2, widthOf(word) + PADDING * 2];
  const width = left + right;
  const text = (x: number, content: string): string =>
    `<text x="${x + PADDING}" y="14" textLength="${widthOf(content)}" lengthAdjust="spacingAndGlyphs">${escapeXml(content)}</text>`;
  const title = escapeXml(`${label}: ${word}`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" role="img" aria-label="${title}">`,
    `<title>${title}</title>`,
    `<clipPath id="c"><rect width="${width}" height="20" rx="${isRound ? 4 : 0}"/></clipPath>`,
    `<g clip-path="url(#c)"><rect width="${left}" height="20" fill="#3d444d"/>`,
    `<rect x="${left}" width="${right}" height="20" fill="${color}"/></g>`,
    `<g fill="#fff" font-family="Verdana,Geneva,sans-serif" font-size="11">`,
    text(0, label),
    text(left, word),
    "</g></svg>",
  ].join("");
}
