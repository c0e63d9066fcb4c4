import { Hono } from "hono";

import type { WebEnv } from "../../env.ts";
import { requireOwnForm, TEXT_FORM_BYTES_MAX } from "../form.ts";
import { receiveFormWithFiles } from "../form-with-files.ts";
import { keepText } from "../keep-text.tsx";
import { renderComment } from "../markup.ts";
import { requireOwn } from "../open-page.ts";
import { readMarkdown } from "../read-markdown.ts";
import { PREVIEW_FIELD } from "../text-field.tsx";
import { UserText } from "../user-text.tsx";
import { enterRepositoryPage } from "./enter.ts";
import { renderRepository } from "./frame.tsx";

/** The preview of a text before it is sent. */
export const preview = new Hono<WebEnv>();

// Cost: one round trip of the database for the reader, and one for the references of the text.
preview.post("/:owner/:repo/markup", async (c) => {
  // The form of the text may have files, which the preview does not need.
  const { form, files } = await receiveFormWithFiles(c, TEXT_FORM_BYTES_MAX);
  await files.skip();
  return keepText(c, form, async () => {
    const page = await enterRepositoryPage(c, { mode: "read" });
    requireOwn(c, page);
    await requireOwnForm(c, form);
    const text = readMarkdown(form, form.text(PREVIEW_FIELD), false);
    const isOfWiki = c.req.query("mode") === "wiki";
    const html = await renderComment(page.ctx, page.repo, text, isOfWiki ? { mode: "wiki" } : {});
    return renderRepository(
      c,
      page,
      { tab: "issues", title: "Preview", hasUserText: true },
      <>
        <h2>Preview</h2>
        <div class="box" id="preview">
          {text.trim() === "" ? (
            <p class="inside soft">Nothing to preview.</p>
          ) : (
            <UserText html={html} />
          )}
        </div>
        <p class="soft">Nothing was sent. The form is open in the tab that you came from.</p>
      </>,
    );
  });
});
