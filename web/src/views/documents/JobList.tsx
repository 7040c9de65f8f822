import { Button } from "react-aria-components";
import type { JobFile, Progress } from "../../api/types";
import { noteHere } from "../../lib/hints";
import { notRead, plural, percent } from "../../lib/words";
import { useApp } from "../../state/app";
import { Bar } from "../../ui/Bar";
import { ProblemNote } from "../../ui/Notes";
import type { Jobs, Upload } from "./useJobs";

const STATUS: Record<string, string> = {
  waiting: "Waiting",
  running: "Reading",
  done: "Done",
  failed: "Some files could not be read",
  cancelled: "Cancelled",
};

const OUTCOME: Record<string, string> = {
  failed: "could not be read",
  duplicate: "has the text of another document",
};

function UploadRow({ upload, jobs }: { upload: Upload; jobs: Jobs }) {
  const { files, corpus, share, problem } = upload;
  const label = files.length === 1 ? (files[0] as File).name : plural(files.length, "file");
  return (
    <li className="job">
      <Bar label={`${label} to ${corpus}`} share={share} said={problem ? "Not sent" : `Sending, ${percent(share)}`} />
      {problem && <ProblemNote problem={problem} />}
      <div className="job-buttons">
        {problem && upload.again && (
          <Button
            className="button"
            onPress={() => {
              jobs.endUpload(upload);
              jobs.send(files, corpus);
            }}
          >
            Retry
          </Button>
        )}
        <Button className="button" onPress={() => jobs.endUpload(upload)}>
          {problem ? "Dismiss" : "Cancel"}
        </Button>
      </div>
    </li>
  );
}

function FileRow({ file }: { file: JobFile }) {
  const unread = notRead(file.unread);
  return (
    <li className={file.status === "failed" ? "bad" : ""}>
      <bdi>{file.name}</bdi>: {file.status ? OUTCOME[file.status] ?? file.status : "not yet read"}
      {unread && `, ${unread}`}
      {file.note && (
        <>
          . <bdi>{noteHere(file.note)}</bdi>
        </>
      )}
    </li>
  );
}

function JobRow({ progress, jobs }: { progress: Progress; jobs: Jobs }) {
  const { restart } = useApp();
  const { job, settled, total, failed } = progress;
  const under = job.status === "waiting" || job.status === "running";
  const now = job.status === "running" ? job.files.find((file) => file.status === null) : undefined;
  const label = total === 1 ? (job.files[0]?.name ?? "") : plural(total, "file");
  return (
    <li className="job">
      <Bar
        label={`${label} to ${job.corpus}`}
        share={total ? settled / total : 1}
        said={`${STATUS[job.status] ?? job.status}${now && total > 1 ? ` ${now.name}` : ""}, ${settled} of ${total}`}
      />
      {progress.unread && <p className="small">{progress.unread}</p>}
      <ul className="job-files small">
        {job.files.map((file) => (
          <FileRow key={file.name} file={file} />
        ))}
      </ul>
      <div className="job-buttons">
        {!under && settled > failed && (
          <Button className="button primary" onPress={() => restart(job.corpus)}>
            Ask about {settled - failed === 1 ? "it" : "them"}
          </Button>
        )}
        {under ? (
          <Button key="cancel" className="button" onPress={() => jobs.cancel(job.id)}>
            Cancel
          </Button>
        ) : (
          <Button key="dismiss" className="button" onPress={() => jobs.dismiss(job.id)}>
            Dismiss
          </Button>
        )}
      </div>
    </li>
  );
}

export function JobList({ jobs }: { jobs: Jobs }) {
  if (!jobs.uploads.length && !jobs.jobs.length) return null;
  return (
    <section aria-label="Uploads">
      {jobs.problem && <ProblemNote problem={jobs.problem} />}
      <ul className="jobs">
        {jobs.uploads.map((upload) => (
          <UploadRow key={upload.id} upload={upload} jobs={jobs} />
        ))}
        {jobs.jobs.map((progress) => (
          <JobRow key={progress.job.id} progress={progress} jobs={jobs} />
        ))}
      </ul>
    </section>
  );
}
