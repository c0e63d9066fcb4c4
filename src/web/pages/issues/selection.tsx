import type { Child } from "hono/jsx";

import type { User } from "../../../db/schema/index.ts";
import type { IssuesChange } from "../../../domain/issues/issue/change-issues.ts";
import type { IssueChoices } from "../../../domain/issues/lists/list-choices.ts";
import { invalidField } from "../../../lib/failure.ts";
import type { Form as SentForm } from "../form.ts";
import { Form, Notice } from "../layout.tsx";
import { readId } from "../read-id.ts";
import type { Refused } from "./issue-head.tsx";

/** The id of the form, to which the checkboxes of the list belong. */
export const SELECTION_FORM = "selection";

const SELECTED = /^issue-([1-9]\d{0,14})$/;

/** The name of the checkbox of an issue, by its number or its id. */
export const selectName = (number: number): string => `issue-${number}`;

/** The numbers, or the ids, of the issues that a form selects. */
export const readSelected = (form: SentForm): number[] =>
  form.namesWith("issue-").flatMap((name) => {
    const [, number] = SELECTED.exec(name) ?? [];
    return number === undefined ? [] : [Number(number)];
  });

/** Whether a checkbox was set in a form that was refused. */
export const isSelectedIn =
  (refused: Refused | undefined) =>
  (name: string): boolean =>
    refused?.form.isSet(name) ?? false;

/** The changes, by the values of the buttons. */
const CHANGES: Readonly<Record<string, (form: SentForm) => IssuesChange>> = {
  close: () => ({ kind: "state", isClosed: true }),
  reopen: () => ({ kind: "state", isClosed: false }),
  "add-label": (form) => ({ kind: "label", labelId: readId(form.text("label")), isAdded: true }),
  "remove-label": (form) => ({
    kind: "label",
    labelId: readId(form.text("label")),
    isAdded: false,
  }),
  milestone: (form) => ({
    kind: "milestone",
    milestoneId: form.text("milestone") === "0" ? 0 : readId(form.text("milestone")),
  }),
  assign: (form) => ({ kind: "assignee", name: form.text("assignee"), isAdded: true }),
  unassign: (form) => ({ kind: "assignee", name: form.text("assignee"), isAdded: false }),
};

/**
 * The change that a form makes to what it selects.
 *
 * @throws Failure `invalid` for no change; `not_found` for a value that is no id.
 */
export function readChange(form: SentForm): IssuesChange {
  const change = form.text("change");
  const read = Object.hasOwn(CHANGES, change) ? CHANGES[change] : undefined;
  if (!read) throw invalidField("change", "must be one of the choices");
  return read(form);
}

/**
 * Whether a form closes what it selects, or reopens it.
 *
 * @throws Failure `invalid` for another change.
 */
export function readStateChange(form: SentForm): boolean {
  const change = readChange(form);
  if (change.kind !== "state") throw invalidField("change", "must be one of the choices");
  return change.isClosed;
}

interface SelectionFormProps {
  path: string;
  formToken: string;
  /** Nothing in a list over repositories, which share neither labels nor milestones. */
  choices?: IssueChoices;
  assignees?: readonly User[];
  /** The form as it was refused. */
  refused: Refused | undefined;
}

/** The form that changes what is selected in a list. */
export function SelectionForm({
  path,
  formToken,
  choices = { labels: [], milestones: [] },
  assignees = [],
  refused,
}: SelectionFormProps) {
  const isChosen = (name: string, value: string): boolean => refused?.form.text(name) === value;
  return (
    <Form action={path} formToken={formToken} id={SELECTION_FORM} class="row selection">
      {refused ? <Notice kind="error">{refused.refusal.text}</Notice> : undefined}
      <label class="check scripted">
        <input type="checkbox" data-select-all />
        Select all
      </label>
      <span class="soft">Selected ones:</span>
      <Change value="close">Close</Change>
      <Change value="reopen">Reopen</Change>
      {choices.labels.length === 0 ? undefined : (
        <Menu title="Label">
          <select name="label" aria-label="Label">
            {choices.labels
              .filter(({ archivedAt }) => archivedAt === null)
              .map(({ id, name }) => (
                <option value={id} selected={isChosen("label", String(id))}>
                  {name}
                </option>
              ))}
          </select>
          <div class="row">
            <Change value="add-label">Add</Change>
            <Change value="remove-label">Remove</Change>
          </div>
        </Menu>
      )}
      {choices.milestones.length === 0 ? undefined : (
        <Menu title="Milestone">
          <select name="milestone" aria-label="Milestone">
            <option value="0">None</option>
            {choices.milestones.map(({ id, title }) => (
              <option value={id} selected={isChosen("milestone", String(id))}>
                {title}
              </option>
            ))}
          </select>
          <Change value="milestone">Set</Change>
        </Menu>
      )}
      {assignees.length === 0 ? undefined : (
        <Menu title="Assignee">
          <select name="assignee" aria-label="Assignee">
            {assignees.map(({ name }) => (
              <option selected={isChosen("assignee", name)}>{name}</option>
            ))}
          </select>
          <div class="row">
            <Change value="assign">Assign</Change>
            <Change value="unassign">Unassign</Change>
          </div>
        </Menu>
      )}
    </Form>
  );
}

const Menu = ({ title, children }: { title: string; children?: Child }) => (
  <details class="menu">
    <summary class="button small">{title}</summary>
    <div class="menu-body">{children}</div>
  </details>
);

const Change = ({ value, children }: { value: string; children?: Child }) => (
  <button type="submit" name="change" value={value} class="small">
    {children}
  </button>
);
