import type { Milestone } from "../../../db/schema/index.ts";
import type { MilestoneFields } from "../../../domain/issues/milestones/create-milestone.ts";
import { invalidField } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { GeneralFault } from "../create/fields.tsx";
import type { FormState } from "../create/form-state.ts";
import type { Form as SentForm } from "../form.ts";
import { Field, Form } from "../layout.tsx";
import { readMarkdown } from "../read-markdown.ts";
import { formatDay, readDay } from "./day.ts";
import { TextField } from "../text-field.tsx";

/** Characters of the fields, as the API has them. */
const CHARS_MAX = { title: 255, content: 65_536 };

/**
 * The milestone that a form describes.
 *
 * @throws Failure `invalid`.
 */
export function toMilestoneFields(
  form: SentForm,
): Pick<MilestoneFields, "title" | "description" | "deadlineAt"> {
  const title = form.line("title", CHARS_MAX.title);
  if (title === "") throw invalidField("title", "must not be empty");
  return {
    title,
    description: readMarkdown(form, "content", false, CHARS_MAX.content),
    deadlineAt: readDay("deadline", form.text("deadline")),
  };
}

/** The fields of the form for a milestone. */
export const toMilestoneForm = (milestone: Milestone): Record<string, string> => ({
  title: milestone.title,
  content: milestone.description,
  deadline: milestone.deadlineAt === null ? "" : formatDay(milestone.deadlineAt),
});

interface MilestoneFormProps {
  repo: RepositoryContext;
  action: string;
  formToken: string;
  state: FormState;
  /** The milestone that is edited; undefined for a new one. */
  milestone: Milestone | undefined;
}

/** The form for a milestone. */
export function MilestoneForm({ repo, action, formToken, state, milestone }: MilestoneFormProps) {
  return (
    <>
      <GeneralFault state={state} fields={["title", "content", "deadline"]} />
      <Form action={action} formToken={formToken}>
        {milestone ? (
          <input type="hidden" name="seen_at" value={String(milestone.updatedAt)} />
        ) : undefined}
        <Field label="Title" {...state.of("title")} maxlength={CHARS_MAX.title} isFirst />
        <Field
          label="Due date"
          {...state.of("deadline")}
          type="date"
          hint="It is due when this day ends, in UTC."
          isOptional
        />
        <TextField
          repo={repo}
          label="Description"
          {...state.of("content")}
          charsMax={CHARS_MAX.content}
        />
        <button type="submit" class="primary">
          {milestone ? "Save milestone" : "Create milestone"}
        </button>
      </Form>
    </>
  );
}
