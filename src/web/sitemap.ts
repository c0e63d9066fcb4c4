import { type Context, Hono } from "hono";

import type { Ctx } from "../context.ts";
import {
  countSitemapFiles,
  listSitemap,
  type SitemapEntry,
} from "../domain/operations/sitemap/list-sitemap.ts";
import { notFound } from "../lib/failure.ts";
import { formatTime } from "../lib/time.ts";
import { escapeXml } from "../lib/xml.ts";
import type { WebEnv } from "./env.ts";
import { openPublicPage } from "./pages/open-page.ts";
import { renderFailure } from "./render-failure.ts";

/** The sitemap: all public accounts and repositories, for search engines. It is off by default. */
export const sitemap = new Hono<WebEnv>();

const KINDS = ["users", "repos"] as const;

/** @throws Failure `not_found` where the sitemap is off. */
async function openSitemap(c: Context<WebEnv>): Promise<Ctx> {
  if (!c.var.base.config.isSitemapOn) throw notFound();
  const { ctx } = await openPublicPage(c, "by-setting");
  return ctx;
}

sitemap.get("/sitemap.xml", async (c) => {
  const ctx = await openSitemap(c);
  const files = await countSitemapFiles(ctx);
  const urls = KINDS.flatMap((kind) =>
    Array.from({ length: files[kind] }, (_, at) => `/explore/${kind}/sitemap-${at + 1}.xml`),
  );
  const entries = urls.map((url) => `<sitemap><loc>${ctx.publicUrl}${url}</loc></sitemap>`);
  return c.body(documentOf("sitemapindex", entries), 200, HEADERS);
});

sitemap.get(
  `/explore/:kind{${KINDS.join("|")}}/:file{sitemap-[1-9][0-9]{0,8}\\.xml}`,
  async (c) => {
    const ctx = await openSitemap(c);
    const { kind, file } = c.req.param();
    const number = Number(/\d+/.exec(file)?.[0]);
    const listed = await listSitemap(ctx, kind as (typeof KINDS)[number], number);
    const toEntry = ({ names, updatedAt }: SitemapEntry): string =>
      `<url><loc>${escapeXml([ctx.publicUrl, ...names].join("/"))}</loc><lastmod>${formatTime(updatedAt)}</lastmod></url>`;
    return c.body(documentOf("urlset", listed.map(toEntry)), 200, HEADERS);
  },
);

sitemap.onError(renderFailure);

const HEADERS = { "Content-Type": "application/xml; charset=utf-8" };

/** @see https://www.sitemaps.org/protocol.html */
const documentOf = (root: "sitemapindex" | "urlset", entries: readonly string[]): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entries.join("")}</${root}>\n`;
