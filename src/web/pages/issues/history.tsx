import { Hono } from "hono";

import { isUnitOn } from "../../../auth/access/unit-switches.ts";
import {
  listCommentVersions,
  listIssueVersions,
} from "../../../domain/issues/comments/list-versions.ts";
import { findCommentAndIssue } from "../../../domain/issues/comments/find-comment.ts";
import { findIssue, unitOf } from "../../../domain/issues/issue/find-issue.ts";
import { notFound } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { accountPath, issuePath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { Pager, readListPage } from "../pager.tsx";
import { readId } from "../read-id.ts";
import { enterRepositoryPage } from "../repository/enter.ts";
import { renderRepository } from "../repository/frame.tsx";

const PAGE_SIZE = 10;

const findIssueAlone = async (...args: Parameters<typeof findIssue>) => ({
  issue: await findIssue(...args),
});

/** The pages of the former versions of a text: that of an issue, or of one of its comments. */
export const histories = new Hono<WebEnv>();

for (const kind of ["issues", "pulls"] as const) {
  histories.get(`/:owner/:repo/${kind}/:number{[0-9]{1,15}}/history`, async (c) => {
    const page = await enterRepositoryPage(c, { mode: "read" });
    const { ctx, repo } = page;
    const number = Number(c.req.param("number"));
    const comment = c.req.query("comment");
    const list = readListPage(c, PAGE_SIZE);
    const [{ issue }, versions] = await Promise.all(
      comment === undefined
        ? [findIssueAlone(ctx, repo, number), listIssueVersions(ctx, repo, number, list)]
        : [
            findCommentAndIssue(ctx, repo, readId(comment), number),
            listCommentVersions(ctx, repo, readId(comment), list),
          ],
    );
    if (!isUnitOn(repo.row, unitOf(issue.row))) throw notFound();
    const path = issuePath(issue);
    const anchor = comment === undefined ? `issue-${issue.row.id}` : `issuecomment-${comment}`;
    return renderRepository(
      c,
      page,
      { tab: issue.row.isPull ? "pulls" : "issues", title: `Versions - #${number}` },
      <>
        <h2>{`Versions of a text of #${number}`}</h2>
        <p>
          <a href={`${path}#${anchor}`}>Back to the conversation</a>
        </p>
        {versions.total === 0 ? <p>It was never changed.</p> : undefined}
        {versions.items.map(({ row, editor }, at) => (
          <section class="box">
            <h3 class="box-head">
              {list.offset + at === 0 ? "Written" : "Changed"}
              {" by "}
              {editor ? <a href={accountPath(editor)}>{editor.name}</a> : "Ghost"}{" "}
              <Ago at={row.createdAt} now={ctx.now} />
            </h3>
            <pre class="inside wrapped">{row.body}</pre>
          </section>
        ))}
        <Pager url={c.req.url} page={list} total={versions.total} />
      </>,
    );
  });
}
