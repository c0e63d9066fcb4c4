import type { Context } from "hono";

import type { AuditCursor, AuditFilter, listAudit } from "../../domain/people/audit/list-audit.ts";
import { Failure, invalidField } from "../../lib/failure.ts";
import { AUDIT_DETAILS, type AuditKind, toAuditEvent } from "../../shapes/audit/audit-event.ts";
import type { WebEnv } from "../env.ts";
import { fieldOfMessage, toSentence } from "./to-sentence.ts";
import { Field, Notice } from "./layout.tsx";

const PAGE_SIZE = 50;
const NAME_CHARS_MAX = 40;
const DAY_MS = 24 * 60 * 60 * 1000;

type Entries = Awaited<ReturnType<typeof listAudit>>;

/** A part of an audit log that a page shows. */
export interface AuditView {
  readonly entries: Entries;
  /** Why the filter was refused. */
  readonly refusal?: Failure;
}

/** Reads the entries that the query of a page selects, the newest first. */
export async function readAudit(
  c: Context<WebEnv>,
  list: (filter: AuditFilter, cursor: AuditCursor) => Promise<Entries>,
): Promise<AuditView> {
  try {
    const after = c.req.query("after") ?? "";
    const isCursor = /^\d{1,15}$/.test(after);
    const cursor = { after: isCursor ? Number(after) : undefined, order: "desc", size: PAGE_SIZE };
    return { entries: await list(readFilter(c), cursor as AuditCursor) };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { entries: { items: [], next: 0 }, refusal: error };
  }
}

const isKind = (text: string): text is AuditKind => Object.hasOwn(AUDIT_DETAILS, text);

/** @throws Failure `invalid` for a day that is none, an unknown kind and a long name. */
function readFilter(c: Context<WebEnv>): AuditFilter {
  const kind = c.req.query("kind") || undefined;
  if (kind !== undefined && !isKind(kind)) throw invalidField("kind", "must be one of the list");
  const last = readDay(c, "before");
  return {
    kind,
    actor: readName(c, "actor"),
    owner: readName(c, "owner"),
    since: readDay(c, "since"),
    before: last === undefined ? undefined : last + DAY_MS,
  };
}

function readName(c: Context<WebEnv>, name: string): string | undefined {
  const text = c.req.query(name)?.trim() || undefined;
  if (text === undefined || text.length <= NAME_CHARS_MAX) return text;
  throw invalidField(name, `must have at most ${NAME_CHARS_MAX} characters`);
}

/** The beginning of a day of the query, in UTC and milliseconds. */
function readDay(c: Context<WebEnv>, name: string): number | undefined {
  const text = c.req.query(name) || undefined;
  if (text === undefined) return undefined;
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) throw invalidField(name, "must be a day");
  return at;
}

interface AuditListProps {
  c: Context<WebEnv>;
  view: AuditView;
  /** Whether entries of several owners are listed, by which they are filtered. */
  hasOwners?: boolean;
}

/** A part of an audit log, with its filter. */
export function AuditList({ c, view: { entries, refusal }, hasOwners = false }: AuditListProps) {
  const { items, next } = entries;
  const { pathname, searchParams } = new URL(c.req.url);
  const isFiltered = ["kind", "actor", "owner", "since", "before"].some((name) =>
    searchParams.get(name),
  );
  const isLast = refusal !== undefined || String(next) === searchParams.get("after") || next === 0;
  searchParams.set("after", String(next));
  return (
    <>
      <AuditFilterForm c={c} path={pathname} refusal={refusal} hasOwners={hasOwners} />
      {items.length === 0 ? (
        <p>{isFiltered && !isLast ? "None of these entries match." : "There are no entries."}</p>
      ) : (
        <div class="scroll" tabindex={0} role="region" aria-label="Entries">
          <table class="rows">
            <thead>
              <tr>
                <th>When</th>
                <th>Who</th>
                <th>What</th>
                {hasOwners ? <th>Of whom</th> : undefined}
                <th>From where</th>
              </tr>
            </thead>
            <tbody>
              {items.map((item) => (
                <AuditRow event={toAuditEvent(item)} hasOwners={hasOwners} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {isLast ? undefined : (
        <nav class="pager" aria-label="Pages">
          <a class="button" rel="next" href={`?${searchParams.toString()}`}>
            Older
          </a>
        </nav>
      )}
    </>
  );
}

interface AuditRowProps {
  event: ReturnType<typeof toAuditEvent>;
  hasOwners: boolean;
}

function AuditRow({ event, hasOwners }: AuditRowProps) {
  const { actor, sudo, owner, user, repository, target, details } = event;
  const about = [repository?.full_name ?? "", target, user ? `user ${user.login}` : ""];
  const shown = Object.entries(details).filter(([, value]) => value !== null);
  return (
    <tr>
      <td>
        <time dateTime={event.created_at}>
          {`${event.created_at.slice(0, 10)} ${event.created_at.slice(11, 16)} UTC`}
        </time>
      </td>
      <td>
        {actor?.login ?? "nobody"}
        {sudo ? ` by ${sudo.login}` : undefined}
        <div class="soft">
          {event.credential}
          {event.token_id === null ? undefined : ` ${event.token_id}`}
        </div>
      </td>
      <td>
        <code>{event.kind}</code> {about.filter((text) => text !== "").join(", ")}
        {shown.length === 0 ? undefined : (
          <div class="soft">
            {shown.map(([name, value]) => `${name}: ${toText(value)}`).join("; ")}
          </div>
        )}
      </td>
      {hasOwners ? <td>{owner?.login ?? "the service"}</td> : undefined}
      <td>{event.address ?? ""}</td>
    </tr>
  );
}

const toText = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value);

interface AuditFilterFormProps {
  c: Context<WebEnv>;
  path: string;
  refusal: Failure | undefined;
  hasOwners: boolean;
}

function AuditFilterForm({ c, path, refusal, hasOwners }: AuditFilterFormProps) {
  const kind = c.req.query("kind") ?? "";
  const field = (name: string) => ({
    name,
    value: c.req.query(name) ?? "",
    isOptional: true,
    fault:
      refusal && fieldOfMessage(refusal.message) === name ? toSentence(refusal.message) : undefined,
  });
  return (
    <form class="filters" action={path}>
      {refusal ? <Notice kind="error">{toSentence(refusal.message)}</Notice> : undefined}
      <div class="field">
        <label for="kind">Kind</label>
        <select id="kind" name="kind">
          <option value="">All</option>
          {Object.keys(AUDIT_DETAILS)
            .toSorted()
            .map((each) => (
              <option value={each} selected={each === kind}>
                {each}
              </option>
            ))}
        </select>
      </div>
      <Field label="Who acted" {...field("actor")} maxlength={NAME_CHARS_MAX} />
      {hasOwners ? (
        <Field label="Of whom" {...field("owner")} maxlength={NAME_CHARS_MAX} />
      ) : undefined}
      <Field label="From day" {...field("since")} type="date" />
      <Field label="To day" {...field("before")} type="date" />
      <button type="submit">Show</button>
    </form>
  );
}
