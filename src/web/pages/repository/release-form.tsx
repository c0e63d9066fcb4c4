import { type Context, Hono } from "hono";

import { isAllowed } from "../../../auth/access/permission.ts";
import type { Requirement } from "../../../auth/access/requirement.ts";
import type { Attachment, User } from "../../../db/schema/index.ts";
import { readSnapshot } from "../../../domain/code/git/open-snapshot.ts";
import { ATTACHMENT_NAME_MAX } from "../../../domain/issues/attachments/attachment-name.ts";
import {
  type AssetChanges,
  changeAssets,
  storeAsset,
} from "../../../domain/packages/releases/assets.ts";
import {
  createReleaseOnce,
  isTagTaken,
  type NewRelease,
} from "../../../domain/packages/releases/create-release.ts";
import {
  deleteRelease,
  deleteReleaseWithTag,
} from "../../../domain/packages/releases/delete-release.ts";
import { findRelease } from "../../../domain/packages/releases/find-release.ts";
import { generateNotes } from "../../../domain/packages/releases/generate-notes.ts";
import { requireReleaseWriting } from "../../../domain/packages/releases/require-release-access.ts";
import {
  updateRelease,
  versionOfRelease,
} from "../../../domain/packages/releases/update-release.ts";
import { conflict, invalidField, notFound, NotFound } from "../../../lib/failure.ts";
import type { ReleaseContext } from "../../../shapes/releases/release.ts";
import { encodePath } from "../../../shapes/urls.ts";
import type { WebEnv } from "../../env.ts";
import { repositoryPath } from "../addresses.ts";
import { AsItIs } from "../as-it-is.tsx";
import { CheckField, GeneralFault } from "../create/fields.tsx";
import { FormState } from "../create/form-state.ts";
import { type Form as SentForm, readForm, requireOwnForm, TEXT_FORM_BYTES_MAX } from "../form.ts";
import { type ChosenFiles, receiveFormWithFiles } from "../form-with-files.ts";
import { formatBytes } from "../format-bytes.ts";
import { keepText } from "../keep-text.tsx";
import { Fault, Field, fieldAttributes, Form, Hint } from "../layout.tsx";
import { requireCookie, requireOwn } from "../open-page.ts";
import { orRefuse } from "../or-refuse.ts";
import { readId } from "../read-id.ts";
import { readMarkdown } from "../read-markdown.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import { TEXT_PAGE, TextField, TITLE_CHARS_MAX } from "../text-field.tsx";
import { enterRepositoryPage, type EnteredRepository, READ_CODE } from "./enter.ts";
import { renderRepository } from "./frame.tsx";
import { type Refs, readRefs } from "./ref-chooser.tsx";

const READ_RELEASES: Requirement = { unit: "releases", mode: "read" };
const WRITE_RELEASES: Requirement = { unit: "releases", mode: "write" };
const WRITE_CODE: Requirement = { unit: "code", mode: "write" };

/** Characters of the fields, as the API has them. */
const CHARS_MAX = { tag: 255, target: 1000, body: 65_536 };

/** The fields that show their own refusals. */
const FIELDS = [
  "tag_name",
  "tag_target",
  "tag_message",
  "title",
  "content",
  "previous_tag",
  "files",
];

/** The pages on which a release is written. */
export const releaseForms = new Hono<WebEnv>();

interface WritingPage extends EnteredRepository {
  readonly user: User;
}

/** Enters a repository whose releases the reader may change. */
async function enterToWrite(c: Context<WebEnv>): Promise<WritingPage> {
  requireCookie(c);
  const page = await enterRepositoryPage(c, READ_RELEASES, ["write:repository"]);
  const { user } = requireOwn(c, page);
  if (!isAllowed(page.repo, WRITE_RELEASES)) throw notFound();
  requireReleaseWriting(page.repo);
  return { ...page, user };
}

/** Whether the reader may write releases now. */
export const canWriteReleases = ({ ctx, repo }: EnteredRepository): boolean =>
  ctx.actor.user !== undefined && repo.row.archivedAt === null && isAllowed(repo, WRITE_RELEASES);

const pathOf = ({ repo }: EnteredRepository): string => `${repositoryPath(repo)}/releases`;

/** The path of the form of a release. */
export const releaseEditPath = ({ repo, row }: ReleaseContext): string =>
  `${repositoryPath(repo)}/releases/edit/${encodePath(row.tagName)}`;

releaseForms.get("/:owner/:repo/releases/new", async (c) => {
  const page = await enterToWrite(c);
  if (page.repo.row.isEmpty) throw notFound();
  const named = { tag_name: c.req.query("tag") ?? "", tag_target: c.req.query("target") ?? "" };
  return showForm(c, page, FormState.fresh(named), undefined);
});

releaseForms.post("/:owner/:repo/releases/new", (c) =>
  receive(c, async (page, form, files, written) => {
    const { ctx, repo, user } = page;
    const isDraft = form.text("action") !== "publish" || files.areAny;
    const input = { ...toFields(form), tagMessage: readTagMessage(form), isDraft };
    const { release, isNew } = await createReleaseOnce(ctx, repo, user, input);
    await goOn(written, release);
    return isNew ? finish(page, form, files, release) : release;
  }),
);

releaseForms.get("/:owner/:repo/releases/edit/:tag{.+}", async (c) => {
  const page = await enterToWrite(c);
  const release = await findRelease(page.ctx, page.repo, { tag: c.req.param("tag") });
  return showForm(c, page, FormState.fresh(toForm(release)), release);
});

releaseForms.post("/:owner/:repo/releases/edit/:tag{.+}", (c) =>
  receive(c, async (page, form, files, written) => {
    const { ctx, repo, user } = page;
    const found = await findRelease(ctx, repo, { tag: c.req.param("tag") });
    written.release = found;
    const changes = readAssetChanges(form, found);
    const areAssetsChanged = changes.renamed.size + changes.deleted.size > 0;
    // A draft is published with all of its files.
    const isPublished =
      form.text("action") === "publish" && !areAssetsChanged && !files.areAny ? false : undefined;
    const edit = {
      ...toFields(form, found),
      isDraft: isPublished,
      tagMessage: readTagMessage(form),
    };
    const release = await updateRelease(ctx, found, user, edit, form.text("seen"));
    await goOn(written, release);
    if (areAssetsChanged) await changeAssets(ctx, release, changes);
    return finish(page, form, files, release);
  }),
);

/** What a form has written when it is refused, which the form that is shown again edits. */
interface Written {
  release: ReleaseContext | undefined;
  form: SentForm;
}

async function goOn(written: Written, release: ReleaseContext): Promise<void> {
  written.release = release;
  // Its sender knows what it wrote.
  written.form = written.form.with({ seen: await versionOfRelease(release) });
}

type Write = (
  page: WritingPage,
  form: SentForm,
  files: ChosenFiles,
  written: Written,
) => Promise<ReleaseContext>;

/** Receives the form of a release, and does what its button says. */
async function receive(c: Context<WebEnv>, write: Write): Promise<Response> {
  const { form, files } = await receiveFormWithFiles(c, TEXT_FORM_BYTES_MAX);
  try {
    return await keepText(c, form, async () => {
      const page = await enterToWrite(c);
      await requireOwnForm(c, form);
      const written: Written = { release: undefined, form };
      return orRefuse(
        c,
        async () => {
          if (form.text("action") === "generate") return await showGenerated(c, page, form);
          const { row } = await write(page, form, files, written).catch(reword);
          return redirectAfterWrite(c, `${pathOf(page)}/tag/${encodePath(row.tagName)}`);
        },
        (refusal) => showForm(c, page, FormState.refused(written.form, refusal), written.release),
        fieldOf,
      );
    });
  } finally {
    await files.skip();
  }
}

/** Stores the files of a form, and then publishes a draft where its button says so. */
async function finish(
  { ctx, user }: WritingPage,
  form: SentForm,
  files: ChosenFiles,
  release: ReleaseContext,
): Promise<ReleaseContext> {
  for (let file = await files.next(); file; file = await files.next()) {
    await storeAsset(ctx, release, file);
  }
  if (form.text("action") !== "publish" || !release.row.isDraft) return release;
  const tagMessage = readTagMessage(form);
  return updateRelease(ctx, release, user, { isDraft: false, tagMessage });
}

/** Shows the form with notes below its text. Nothing is written. */
async function showGenerated(
  c: Context<WebEnv>,
  page: WritingPage,
  form: SentForm,
): Promise<Response> {
  const { ctx, repo } = page;
  const shown = c.req.param("tag");
  const release = shown === undefined ? undefined : await findRelease(ctx, repo, { tag: shown });
  const fields = toFields(form, release);
  const { tagName = shown ?? "", target = "", body } = fields;
  const previousTag = form.line("previous_tag", CHARS_MAX.tag);
  const subject = { tagName, target, previousTag };
  const notes = await generateNotes(ctx, repo, subject, ctx).catch(reword);
  const content = body.includes(notes.body)
    ? body
    : [body, notes.body].filter((part) => part.trim() !== "").join("\n\n");
  const filled = { title: fields.title || notes.title, content };
  return showForm(c, page, FormState.filled(form, filled), release);
}

releaseForms.post("/:owner/:repo/releases/delete", async (c) => {
  const page = await enterToWrite(c);
  const form = await readForm(c);
  const release = await findRelease(page.ctx, page.repo, { id: readId(form.text("id")) });
  return orRefuse(
    c,
    async () => {
      await (form.isSet("delete_tag") ? deleteReleaseWithTag : deleteRelease)(page.ctx, release);
      return redirectAfterWrite(c, pathOf(page));
    },
    (refusal) => showForm(c, page, FormState.fresh(toForm(release), refusal), release),
  );
});

/** The refusals of releases, of which the API has Gitea's words, by the fields of the form. */
function reword(error: unknown): never {
  if (error instanceof NotFound && error.reason === "no-such-ref") {
    const field = error.message.startsWith("tag ") ? "previous_tag" : "tag_target";
    throw invalidField(field, "must be in this repository");
  }
  if (isTagTaken(error)) throw conflict("[tag_name]: has a release already");
  throw error;
}

/** The fields that refusals are about which do not say so. */
const fieldOf = (message: string): string | undefined => {
  if (/file|attachments/i.test(message)) return "files";
  return /\[tag_name|\[name:/.test(message) ? "tag_name" : undefined;
};

type Fields = Pick<NewRelease, "tagName" | "target" | "title" | "body" | "isPrerelease">;

/**
 * The release that a form describes. That of a published one has no tag.
 *
 * @throws Failure `invalid`.
 */
function toFields(form: SentForm, release?: undefined): Fields;
function toFields(
  form: SentForm,
  release: ReleaseContext | undefined,
): Omit<Fields, "tagName" | "target"> & Partial<Fields>;
function toFields(form: SentForm, release?: ReleaseContext) {
  const fields = {
    title: form.line("title", TITLE_CHARS_MAX),
    body: readMarkdown(form, "content", false, CHARS_MAX.body),
    isPrerelease: form.isSet("prerelease"),
  };
  if (release && !release.row.isDraft) return fields;
  const tagName = form.line("tag_name", CHARS_MAX.tag);
  if (tagName === "") throw invalidField("tag_name", "must not be empty");
  return { ...fields, tagName, target: form.line("tag_target", CHARS_MAX.target) };
}

const readTagMessage = (form: SentForm): string =>
  readMarkdown(form, "tag_message", false, CHARS_MAX.body);

const toForm = ({ row }: ReleaseContext): Record<string, string> => ({
  tag_name: row.tagName,
  tag_target: row.target,
  title: row.title,
  content: row.body,
});

const RENAMED = "attachment-edit-";
const DELETED = "attachment-del-";

/** The changes of files that a form describes. */
function readAssetChanges(form: SentForm, { assets }: ReleaseContext): AssetChanges {
  const names = assets.map(({ id, name, uuid }) => {
    const sent = form.line(RENAMED + uuid, ATTACHMENT_NAME_MAX);
    return [id, sent === name ? "" : sent] as const;
  });
  return {
    renamed: new Map(names.filter(([, name]) => name !== "")),
    deleted: new Set(assets.filter(({ uuid }) => form.isSet(DELETED + uuid)).map(({ id }) => id)),
  };
}

const NO_REFS: Refs = { branches: { names: [], total: 0 }, tags: { names: [], total: 0 } };

/** @param release The release that is edited; undefined for a new one. */
async function showForm(
  c: Context<WebEnv>,
  page: WritingPage,
  state: FormState,
  release: ReleaseContext | undefined,
): Promise<Response> {
  const { ctx, repo } = page;
  const title = release ? "Edit release" : "New release";
  const seen = release && (await versionOfRelease(release));
  const refs = isAllowed(repo, READ_CODE)
    ? await readSnapshot(ctx, repo, async (snapshot) => readRefs(snapshot))
    : NO_REFS;
  return renderRepository(
    c,
    page,
    {
      ...TEXT_PAGE,
      tab: "releases",
      title: `${title} - ${repo.owner.name}/${repo.row.name}`,
      status: state.refusal?.status ?? 200,
    },
    <section class="card form">
      <h2>{title}</h2>
      <ReleaseForm page={page} state={state} release={release} seen={seen} refs={refs} />
      {release && state.isStale("seen", seen ?? "") ? <Current release={release} /> : undefined}
      {release ? <DeleteForm page={page} release={release} /> : undefined}
    </section>,
  );
}

interface ReleaseFormProps {
  page: WritingPage;
  state: FormState;
  release: ReleaseContext | undefined;
  /** The version of the release that the form shows. */
  seen: string | undefined;
  refs: Refs;
}

function ReleaseForm({ page, state, release, seen, refs }: ReleaseFormProps) {
  const { ctx, formToken } = page;
  const isPublished = release !== undefined && !release.row.isDraft;
  const action = release ? releaseEditPath(release) : `${pathOf(page)}/new`;
  return (
    <>
      <GeneralFault
        state={state}
        fields={[...FIELDS, ...(release?.assets.map(({ uuid }) => RENAMED + uuid) ?? [])]}
      />
      <Form action={action} formToken={formToken} enctype="multipart/form-data">
        {seen === undefined ? undefined : <input type="hidden" name="seen" value={seen} />}
        {isPublished ? <p>{`Tag: ${release.row.tagName}`}</p> : <TagFields state={state} />}
        <Field
          label="Title"
          {...state.of("title")}
          maxlength={TITLE_CHARS_MAX}
          hint="The name of the tag, if it is empty."
          isOptional
        />
        <TextField
          repo={page.repo}
          label="Notes"
          {...state.of("content")}
          charsMax={CHARS_MAX.body}
        />
        <details open={state.of("previous_tag").fault !== undefined}>
          <summary>Notes from merged pull requests</summary>
          <Field
            label="Since the tag"
            {...state.of("previous_tag")}
            list="tags"
            maxlength={CHARS_MAX.tag}
            hint="The tag of the release before, if it is empty."
            isOptional
          />
          <p>
            <button type="submit" name="action" value="generate">
              Add these notes to the text
            </button>
          </p>
        </details>
        <CheckField
          state={state}
          label="This is a pre-release"
          name="prerelease"
          isSetAtFirst={release?.row.isPrerelease ?? false}
        />
        {release && release.assets.length > 0 ? (
          <Assets state={state} assets={release.assets} />
        ) : undefined}
        {ctx.config.areAttachmentsOn ? (
          <Files state={state} maxMib={ctx.config.attachmentMaxMib} />
        ) : undefined}
        <div class="toggles">
          {isPublished ? (
            <button type="submit" class="primary" name="action" value="save">
              Save release
            </button>
          ) : (
            <>
              <button type="submit" class="primary" name="action" value="publish">
                Publish release
              </button>
              <button type="submit" name="action" value="draft">
                Save draft
              </button>
            </>
          )}
        </div>
      </Form>
      <Names id="branches" names={refs.branches.names} />
      <Names id="tags" names={refs.tags.names} />
    </>
  );
}

/** The fields of a tag that may not exist yet. */
function TagFields({ state }: { state: FormState }) {
  return (
    <>
      <Field
        label="Tag"
        {...state.of("tag_name")}
        list="tags"
        maxlength={CHARS_MAX.tag}
        hint="One that exists, or a new one, which is created when the release is published."
        isFirst
      />
      <Field
        label="Branch or commit of a new tag"
        {...state.of("tag_target")}
        list="branches"
        maxlength={CHARS_MAX.target}
        hint="The default branch, if it is empty."
        isOptional
      />
      <Field
        label="Message of a new tag"
        {...state.of("tag_message")}
        hint="A tag with a message is annotated."
        isOptional
      />
    </>
  );
}

function Names({ id, names }: { id: string; names: readonly string[] }) {
  return (
    <datalist id={id}>
      {names.map((name) => (
        <option value={name} />
      ))}
    </datalist>
  );
}

/** The files that a release has. */
function Assets({ state, assets }: { state: FormState; assets: readonly Attachment[] }) {
  return (
    <fieldset>
      <legend>Files</legend>
      {assets.map(({ uuid, name, sizeBytes }) => (
        <div class="asset">
          <Field
            label={`${name}, ${formatBytes(sizeBytes)}`}
            {...state.of(RENAMED + uuid)}
            value={state.valueOf(RENAMED + uuid, name)}
            maxlength={ATTACHMENT_NAME_MAX}
          />
          <label class="check">
            <input
              type="checkbox"
              name={DELETED + uuid}
              value="on"
              checked={state.isSet(DELETED + uuid, false)}
            />
            <span>
              Delete<span class="hidden">{` ${name}`}</span>
            </span>
          </label>
        </div>
      ))}
    </fieldset>
  );
}

/** The field for new files, which is the last: files follow the fields that say who sends them. */
function Files({ state, maxMib }: { state: FormState; maxMib: number }) {
  const { fault } = state.of("files");
  const hint = `Each has at most ${maxMib} MiB. The release is published once all are stored.`;
  return (
    <div class="field">
      <label for="files">New files</label>
      <input
        id="files"
        name="files"
        type="file"
        multiple
        {...fieldAttributes("files", fault, hint)}
      />
      <Fault id="files-fault" text={fault} />
      <Hint id="files-hint" text={hint} />
    </div>
  );
}

/** The release as it is, beside an edit of what it was. */
function Current({ release: { row } }: { release: ReleaseContext }) {
  return (
    <AsItIs what="The release">
      <p>
        <strong>{row.title || row.tagName}</strong>
      </p>
      <p class="message">{row.body}</p>
    </AsItIs>
  );
}

function DeleteForm({ page, release: { row } }: { page: WritingPage; release: ReleaseContext }) {
  const canDeleteTag = !row.isDraft && isAllowed(page.repo, WRITE_CODE) && !page.repo.row.isMirror;
  return (
    <details class="menu">
      <summary class="button danger">Delete release</summary>
      <div class="menu-body">
        <p>Its text and its files are deleted. Its commits stay.</p>
        <Form action={`${pathOf(page)}/delete`} formToken={page.formToken}>
          <input type="hidden" name="id" value={String(row.id)} />
          {canDeleteTag ? (
            <label class="check">
              <input type="checkbox" name="delete_tag" value="on" />
              {`Delete the tag ${row.tagName}, too`}
            </label>
          ) : undefined}
          <button type="submit" class="danger">
            {`Delete ${row.title || row.tagName}`}
          </button>
        </Form>
      </div>
    </details>
  );
}
