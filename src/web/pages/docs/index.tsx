import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";
import { raw } from "hono/html";

import type { WebEnv } from "../../env.ts";
import { openPublicPage } from "../open-page.ts";
import { renderPage } from "../render-page.tsx";

/** A document, as `scripts/build/documents.ts` writes it. */
interface Document {
  readonly title: string;
  readonly headings: readonly { id: string; text: string; depth: number }[];
  readonly html: string;
}

interface Index {
  readonly groups: readonly {
    readonly heading: string;
    readonly documents: readonly { name: string; title: string }[];
  }[];
}

/** The documents for users and operators. */
export const docs = new Hono<WebEnv>({ router: new TrieRouter() });

docs.get("/docs", async (c) => {
  const page = await openPublicPage(c, "always");
  const index = await readFile<Index>(c, "index");
  if (!index) throw new Error("the documents are not built");
  return renderPage(
    c,
    page,
    { title: "Documentation", isPublic: true },
    <>
      <h1>Documentation</h1>
      <p>
        {`What this service does and how. The interface for programs is described at `}
        <a href="/api/swagger">/api/swagger</a>, too.
      </p>
      {index.groups.map(({ heading, documents }) => (
        <section class="card" aria-labelledby={heading}>
          <h2 id={heading}>{heading}</h2>
          <ul class="links">
            {documents.map(({ name, title }) => (
              <li>
                <a href={`/docs/${name}`}>{title}</a>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>,
  );
});

for (const path of ["/docs/:name", "/docs/:folder/:name"]) {
  docs.get(path, async (c, next) => {
    const { folder, name = "" } = c.req.param() as Record<string, string>;
    if (name === "index") return next();
    const document = await readFile<Document>(c, folder === undefined ? name : `${folder}/${name}`);
    // An account may have had this name before it was reserved.
    return document ? renderDocument(c, document) : next();
  });
}

/** The content of a built file; undefined for one that there is not. */
async function readFile<T>(c: Context<WebEnv>, name: string): Promise<T | undefined> {
  if (!/^[a-z0-9-]+(?:\/[a-z0-9-]+)?$/.test(name)) return undefined;
  const file = await c.var.assets.fetch(new URL(`/-/docs/${name}.json`, c.req.url));
  if (file.ok) return file.json<T>();
  await file.body?.cancel();
  return undefined;
}

async function renderDocument(c: Context<WebEnv>, document: Document): Promise<Response> {
  const { title, headings, html } = document;
  const page = await openPublicPage(c, "always");
  const shown = headings.filter(({ depth }) => depth === 2);
  return renderPage(
    c,
    page,
    { title: `${title} - Documentation`, isPublic: true },
    <>
      <p>
        <a href="/docs">Documentation</a>
      </p>
      {shown.length > 1 ? (
        <details class="card">
          <summary>Contents</summary>
          <ul>
            {shown.map(({ id, text }) => (
              <li>
                <a href={`#${id}`}>{text}</a>
              </li>
            ))}
          </ul>
        </details>
      ) : undefined}
      <article class="card">
        <section class="markup">{raw(html)}</section>
      </article>
    </>,
  );
}
