import { type Context, Hono } from "hono";

import { listFileDiffs } from "../../../domain/code/commits/list-file-diffs.ts";
import { listOwnersOfFiles } from "../../../domain/pulls/code-review/list-owners-of-files.ts";
import { openPull } from "../../../domain/pulls/pull/open-pull.ts";
import { readCodeReview } from "../../../domain/pulls/reviews/read-code-review.ts";
import { EMPTY_TREE_OID } from "../../../git/oid.ts";
import { notFound } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { UnshownRefusal } from "../keep-text.tsx";
import { ownPath } from "../redirect-to.ts";
import { Diff, DIFF_PAGE, showDiffs } from "../repository/diff.tsx";
import { isFound, readDiffView } from "../repository/diff-view.ts";
import { type EnteredPull, enterPullPage } from "../repository/enter.ts";
import { TEXT_PAGE } from "../text-field.tsx";
import { act } from "./act.ts";
import type { Done } from "./action.ts";
import { ActionForm, type Sending } from "./action-form.tsx";
import { CodeForm } from "./code-form.tsx";
import { SuggestionsForm, ThreadButtons } from "./code-thread.tsx";
import { NO_FORM, openFileTalk, VIEWED_ID } from "./file-talk.tsx";
import { mayTakePart, type Refused } from "./issue-head.tsx";
import { renderPull } from "./render-pull.tsx";
import { ReviewForm } from "./review-form.tsx";

/** The changed files of a pull request, where it is reviewed. */
export const pullFiles = new Hono<WebEnv>();

const FILES = "/:owner/:repo/pulls/:number{[0-9]{1,15}}/files";

pullFiles.get(FILES, async (c) => showFiles(c, await enterPullPage(c)));

pullFiles.post(FILES, (c) =>
  act(c, {
    enter: () => enterPullPage(c, ["write:issue"]),
    addressAfter: ({ path, anchor, entryId }: Done) => {
      const place = entryId === undefined ? anchor : `issuecomment-${entryId}`;
      return path ?? `${addressOf(c)}${place === undefined ? "" : `#${place}`}`;
    },
    showAgain: (page, refused) => showFiles(c, page, refused),
  }),
);

/** The address of the page without an open form. */
function addressOf(c: Context<WebEnv>): string {
  const query = readDiffView(c, undefined).hrefWith(NO_FORM);
  return ownPath(c.req.url) + (query === "?" ? "" : query);
}

/**
 * Shows the changes with what was said about them.
 *
 * Cost: one round trip of the database, another one for references in comments; and as `openPull`
 * and `listFileDiffs`.
 *
 * @param refused A form that was refused.
 */
async function showFiles(
  c: Context<WebEnv>,
  page: EnteredPull,
  refused?: Refused,
): Promise<Response> {
  const { ctx, repo, pull, formToken } = page;
  const view = readDiffView(c, ctx.actor.user);
  const { snapshot, head, base, mergeBase } = await openPull(ctx, pull);
  const { repository } = snapshot;
  const { graph } = repository;
  const diffs = await listFileDiffs(
    repository,
    mergeBase === undefined ? undefined : await graph.loadRootOid(mergeBase),
    (await graph.loadRootOid(head)) ?? EMPTY_TREE_OID,
    view.query,
  );
  if (diffs && !isFound(diffs, view)) throw notFound();
  const { items = [], changes = [] } = diffs ?? {};
  const sending: Sending = { path: addressOf(c), formToken };
  const paths = items.map(({ path }) => path);
  const [review, owners] = await Promise.all([
    readCodeReview(ctx, pull, paths),
    listOwnersOfFiles(
      ctx,
      repo,
      repository,
      base === undefined ? pull.pull.checkedBaseOid : graph.oid(base),
      paths,
    ),
  ]);
  const talk = await openFileTalk(c, page, {
    sending,
    review,
    changes,
    items,
    owners,
    view,
    refused,
  });
  const shown = await showDiffs(ctx, items, view, talk.notesAt);
  return renderPull(
    c,
    page,
    "files",
    {
      ...TEXT_PAGE,
      scripts: [...DIFF_PAGE.scripts, ...TEXT_PAGE.scripts, "review.ts"],
      status: refused?.refusal.status ?? 200,
    },
    <>
      {refused && !talk.isRefusalShown ? <UnshownRefusal {...refused} /> : undefined}
      {talk.elsewhere}
      {review.isCut ? (
        <p class="notice">
          There are more comments than this page shows. The page of each file alone has its own.
        </p>
      ) : undefined}
      {changes.length > 0 && diffs ? (
        <Diff
          diffs={diffs}
          shown={shown}
          sides={{
            old: mergeBase === undefined ? undefined : { repo, commitOid: graph.oid(mergeBase) },
            fresh: { repo, commitOid: graph.oid(head) },
          }}
          view={view}
          notes={talk.notes}
        />
      ) : (
        <p>
          {diffs
            ? "No file differs from the base."
            : "Too many files differ to be shown: more than 3000."}
        </p>
      )}
      {ctx.actor.user ? (
        <>
          <ThreadButtons sending={sending} />
          <ActionForm {...sending} action="view-file" id={VIEWED_ID} />
          {talk.hasApplyForm ? <SuggestionsForm sending={sending} /> : undefined}
        </>
      ) : undefined}
      {mayTakePart(page, pull) ? (
        <template id="code-template">
          <CodeForm
            repo={repo}
            hasFiles={ctx.config.areAttachmentsOn}
            sending={sending}
            now={ctx.now}
            place={{ path: "", side: "R", line: 0, startLine: 0 }}
            repliedId={undefined}
            headOid={pull.pull.headOid}
            hasPending={review.pending !== undefined}
            body=""
            cancelHref="#"
            suggestHref="#"
          />
        </template>
      ) : undefined}
      <ReviewForm
        page={page}
        pull={pull}
        sending={sending}
        pending={review.pending}
        refused={refused}
      />
    </>,
  );
}
