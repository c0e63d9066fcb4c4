import { Hono } from "hono";

import { isAllowed } from "../../../auth/access/permission.ts";
import type { Attachment } from "../../../db/schema/index.ts";
import { servedTypeOf } from "../../../domain/issues/attachments/attachment-type.ts";
import { uploadFile } from "../../../domain/issues/attachments/upload-file.ts";
import { malformed, notFound } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { CopyButton } from "../copy-button.tsx";
import { requireOwnForm, TEXT_FORM_BYTES_MAX } from "../form.ts";
import { receiveFormWithFiles } from "../form-with-files.ts";
import { requireCookie, requireOwn } from "../open-page.ts";
import { enterRepositoryPage, READ_ISSUES, READ_PULLS } from "../repository/enter.ts";
import { renderRepository } from "../repository/frame.tsx";

/** The upload of a file for a text that is being written. */
export const uploads = new Hono<WebEnv>();

uploads.post("/:owner/:repo/issues/attachments", async (c) => {
  requireCookie(c);
  const page = await enterRepositoryPage(c, { mode: "read" }, ["write:issue"]);
  const { user } = requireOwn(c, page);
  const { ctx, repo } = page;
  if (!isAllowed(repo, READ_ISSUES) && !isAllowed(repo, READ_PULLS)) throw notFound();
  const { form, files } = await receiveFormWithFiles(c, TEXT_FORM_BYTES_MAX);
  await requireOwnForm(c, form);
  const file = await files.next();
  if (!file) throw malformed("No file was chosen.");
  const attachment = await uploadFile(ctx, repo, user, file);
  await files.skip();
  const markdown = toMarkdown(attachment);
  if (c.req.header("accept") === "application/json") return c.json({ markdown });
  return renderRepository(
    c,
    page,
    { tab: "issues", title: "Uploaded" },
    <section class="card">
      <h2>{attachment.name} is uploaded</h2>
      <p>
        Put this into your text, which is open in the tab that you came from. A file that no text
        has is deleted after a day.
      </p>
      <p>
        <code>{markdown}</code> <CopyButton text={markdown} />
      </p>
    </section>,
  );
});

/** The Markdown that shows an image, or links another file. */
function toMarkdown({ uuid, name }: Attachment): string {
  const link = `[${name.replaceAll(/[\\[\]<`*_]/g, "\\$&")}](/attachments/${uuid})`;
  return servedTypeOf(name).type.startsWith("image/") ? `!${link}` : link;
}
