import { createRoute, z } from "@hono/zod-openapi";

import type { Ctx } from "../../context.ts";
import { resolveReferences } from "../../domain/repos/markup/resolve-references.ts";
import { invalid, tooLarge } from "../../lib/failure.ts";
import { isMarkupMode, type MarkupMode } from "../../render/markup-options.ts";
import { parseContext } from "../../render/parse-context.ts";
import type { References } from "../../render/references.ts";
import { countAction } from "../../entrance/count-action.ts";
import { refusals, json } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { signedIn } from "../guards/people.ts";
import { body, optionalFlag, readText } from "../json-body.ts";

export const markup = endpoints();

const shortText = (lengthMax: number) => z.string().max(lengthMax).default("");

const MarkdownOption = {
  Text: z.string().default("").openapi({ description: "The text to render" }),
  Mode: shortText(32).openapi({
    description: "The mode: markdown, gfm, comment or wiki; markdown if empty",
  }),
  Context: shortText(2048).openapi({ description: "The base of relative links, as a path or URL" }),
  Wiki: optionalFlag().openapi({ description: "Whether relative links point into the wiki" }),
};

const rendered = {
  200: { description: "The rendered HTML", content: { "text/html": { schema: z.string() } } },
  ...refusals(401, 403, 413, 422),
};

/**
 * SECURITY: stops user content from running scripts in the service's origin when the response is
 * opened.
 */
const SANDBOX = {
  "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
};

markup.openapi(
  createRoute({
    method: "post",
    path: "/markdown",
    operationId: "renderMarkdown",
    tags: ["miscellaneous"],
    summary: "Render Markdown as HTML",
    middleware: [signedIn()] as const,
    request: {
      body: {
        required: true,
        ...json(body(MarkdownOption).openapi("MarkdownOption"), "The text and how to render it"),
      },
    },
    responses: rendered,
  }),
  async (c) => {
    await countAction(c, "RENDERINGS");
    const sent = c.req.valid("json");
    return c.html(await render(c.var.ctx, { ...sent, FilePath: "" }), 200, SANDBOX);
  },
);

markup.openapi(
  createRoute({
    method: "post",
    path: "/markup",
    operationId: "renderMarkup",
    tags: ["miscellaneous"],
    summary: "Render a markup document as HTML",
    description: "In mode `file` the file path selects the renderer.",
    middleware: [signedIn()] as const,
    request: {
      body: {
        required: true,
        ...json(
          body({
            ...MarkdownOption,
            Mode: MarkdownOption.Mode.openapi({
              description: "The mode: comment, gfm, markdown, wiki or file; markdown if empty",
            }),
            FilePath: shortText(4096).openapi({ description: "The path of the document" }),
          }).openapi("MarkupOption"),
          "The text and how to render it",
        ),
      },
    },
    responses: rendered,
  }),
  async (c) => {
    await countAction(c, "RENDERINGS");
    return c.html(await render(c.var.ctx, c.req.valid("json")), 200, SANDBOX);
  },
);

markup.openapi(
  createRoute({
    method: "post",
    path: "/markdown/raw",
    operationId: "renderMarkdownRaw",
    tags: ["miscellaneous"],
    summary: "Render a plain-text Markdown body as HTML",
    middleware: [signedIn()] as const,
    request: {
      body: {
        required: true,
        description: "The text",
        content: { "text/plain": { schema: z.string() } },
      },
    },
    responses: rendered,
  }),
  async (c) => {
    const { ctx } = c.var;
    await countAction(c, "RENDERINGS");
    const source = await readText(c, ctx.config.markupMaxBytes);
    const sent = { Text: source, Mode: "", Context: "", FilePath: "" };
    return c.html(await render(ctx, sent), 200, SANDBOX);
  },
);

interface Sent {
  Text: string;
  Mode: string;
  Context: string;
  Wiki?: boolean | undefined;
  FilePath: string;
}

async function render(ctx: Ctx, sent: Sent): Promise<string> {
  const mode = toMode(sent.Mode);
  const { markupMaxBytes } = ctx.config;
  if (new TextEncoder().encode(sent.Text).length > markupMaxBytes) {
    throw tooLarge(`the text is larger than ${markupMaxBytes} bytes`);
  }
  const { rootUrl } = ctx;
  const options = {
    rootUrl,
    mode,
    ...(sent.Wiki !== undefined && { wiki: sent.Wiki }),
    ...(sent.FilePath !== "" && { filePath: sent.FilePath }),
  };
  // Loaded on first use: most requests render nothing.
  const { renderMarkup } = await import("../../render/markup.ts");
  const { RENDER_STEPS_MAX } = await import("../../render/render-budget.ts");
  const context = parseContext(sent.Context, options);
  const complete = {
    ...options,
    ...context,
    resolve: (found: References) => resolveReferences(ctx, context.repo, found),
  };
  return renderMarkup(sent.Text, complete, ctx.git.openBudget(RENDER_STEPS_MAX));
}

function toMode(text: string): MarkupMode {
  if (text === "") return "markdown";
  if (!isMarkupMode(text)) throw invalid(`Unknown mode: ${text}`);
  return text;
}
