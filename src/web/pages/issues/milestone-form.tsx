import type { Milestone } from "../../../db/schema/index.ts";
import type { MilestoneFields } from "../../../domain/issues/milestones/create-milestone.ts";
import { invalidField } from "../../../lib/failure.ts";
import { GeneralFault } from "../create/fields.tsx";
import type { FormState } from "../create/form-state.ts";
import type { Form as SentForm } from "../form.ts";
import { Fault, Field, Form, Hint } from "../layout.tsx";
import { formatDay, readDay } from "./day.ts";

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
  // Browsers send each end of a line as two characters.
  const description = form.text("content").replaceAll("\r\n", "\n");
  if (description.length > CHARS_MAX.content) {
    throw invalidField("content", `must have at most ${CHARS_MAX.content} characters`);
  }
  return {
    title,
    description,
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
  action: string;
  formToken: string;
  state: FormState;
  /** The milestone that is edited; undefined for a new one. */
  milestone: Milestone | undefined;
}

/** The form for a milestone. */
export function MilestoneForm({ action, formToken, state, milestone }: MilestoneFormProps) {
  const content = state.of("content");
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
        <div class="field">
          <label for="content">Description</label>
          <textarea
            id="content"
            name="content"
            rows={10}
            maxlength={CHARS_MAX.content}
            aria-invalid={content.fault === undefined ? undefined : "true"}
            aria-describedby={content.fault === undefined ? "content-hint" : "content-fault"}
          >
            {content.value}
          </textarea>
          <Fault id="content-fault" text={content.fault} />
          <Hint id="content-hint" text="It may have Markdown." />
        </div>
        <button type="submit" class="primary">
          {milestone ? "Save milestone" : "Create milestone"}
        </button>
      </Form>
    </>
  );
}
