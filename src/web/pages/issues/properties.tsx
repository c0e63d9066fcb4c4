import type { PropsWithChildren } from "hono/jsx";

import type { User } from "../../../db/schema/index.ts";
import { exclusiveScopeOf } from "../../../domain/issues/issue/exclusive-scope.ts";
import type { IssueChoices } from "../../../domain/issues/lists/list-choices.ts";
import { Avatar } from "../avatar.tsx";
import type { FormState } from "../create/form-state.ts";
import type { Form } from "../form.ts";
import { Field } from "../layout.tsx";
import { readId } from "../read-id.ts";
import { TITLE_CHARS_MAX } from "../text-field.tsx";
import { LabelChoices, readLabelIds } from "./label-choices.tsx";

interface PropertiesProps {
  choices: IssueChoices;
  assignees: readonly User[];
  state: FormState;
}

/** What a writer may give an issue or a pull request from its beginning. */
export function Properties({ choices: { labels, milestones }, assignees, state }: PropertiesProps) {
  const milestone = state.of("milestone").value;
  return (
    <>
      {labels.length === 0 ? undefined : (
        <details class="side-part">
          <summary>Labels</summary>
          <LabelChoices
            labels={labels}
            isChosen={(label) =>
              state.of(`label-${label.id}`).value === "on" ||
              state.of(`scope-${exclusiveScopeOf(label)}`).value === String(label.id)
            }
          />
        </details>
      )}
      {milestones.length === 0 ? undefined : (
        <div class="side-part">
          <label for="milestone">Milestone</label>
          <select id="milestone" name="milestone">
            <option value="0">None</option>
            {milestones.map(({ id, title }) => (
              <option value={id} selected={String(id) === milestone}>
                {title}
              </option>
            ))}
          </select>
        </div>
      )}
      <UserChoices
        title="Assignees"
        users={assignees}
        beginning="user-"
        other="other"
        state={state}
      />
    </>
  );
}

interface UserChoicesProps {
  title: string;
  users: readonly User[];
  /** The beginning of the names of the checkboxes. */
  beginning: string;
  /** The name of the field for somebody who is not listed. */
  other: string;
  state: FormState;
}

/** Users to choose from, and a field for one who is not among them; then what else is offered. */
export function UserChoices(props: PropsWithChildren<UserChoicesProps>) {
  const { title, users, beginning, other, state, children } = props;
  return (
    <details class="side-part" open={state.of(other).fault !== undefined}>
      <summary>{title}</summary>
      {users.map((user) => (
        <label class="check">
          <input
            type="checkbox"
            name={beginning + user.name}
            value="on"
            checked={state.of(beginning + user.name).value === "on"}
          />
          <span>
            <Avatar account={user} size={20} />
            {user.name}
          </span>
        </label>
      ))}
      <Field label="Somebody else" {...state.of(other)} maxlength={TITLE_CHARS_MAX} isOptional />
      {children}
    </details>
  );
}

/** The names of the users that were chosen by `UserChoices`. */
export const readUsers = (form: Form, beginning: string, other: string): string[] =>
  [
    ...form.namesWith(beginning).map((name) => name.slice(beginning.length)),
    form.line(other, TITLE_CHARS_MAX),
  ].filter((name) => name !== "");

/**
 * What was chosen by `Properties`.
 *
 * @throws Failure `not_found` for a value that is no id.
 */
export function readProperties(form: Form) {
  const milestone = form.text("milestone");
  return {
    labelIds: readLabelIds(form),
    milestoneId: /^0?$/.test(milestone) ? 0 : readId(milestone),
    assignees: readUsers(form, "user-", "other"),
  };
}
