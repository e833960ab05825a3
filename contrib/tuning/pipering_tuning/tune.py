# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""pipering-tune: preflight, the machine, choosing, rules for coll/tuned, proof, results."""

import contextlib
import fnmatch
import json
import os
import shlex
import signal
import sys
import time

from . import (calls, choose, command_line, files, held_out, journal, kernel, knobs, launch,
               machine_file, machine_run, measure, ompi_info, preflight, progress, prove, report,
               results, rules, sentences)
from .files import Refusal

# Exit status; wrong usage is argparse's, 2.
GOOD, FAILED, REFUSED, INTERRUPTED = 0, 1, 3, 130

# Parts of the budget that are over when each step ends. A first race that has not told anything may
# take the time until the end of the rules.
MACHINE, CHOICE, RULES, PROOF, END = 0.15, 0.45, 0.55, 0.95, 1.0

JOURNAL, MACHINE_FILE = "journal.jsonl", "machine"
# The parameter file: what was chosen, and what that is called when the proof is over.
CANDIDATE, TUNED, REFUSED_FILE = "candidate.conf", "tuned.conf", "refused.conf"
# The file that --prove names, as jobs are given it, and that of --start.
PROVEN, START = "prove.conf", "start.conf"


class Tuning:
    """One run, step by step. clock: seconds, by which it keeps to --budget."""

    clock = staticmethod(time.monotonic)

    def __init__(self, options, arguments):
        self.options = options
        self.command = shlex.join(["pipering-tune"] + arguments)
        self.begun = time.strftime("%Y-%m-%d %H:%M:%S")
        self.say = progress.say
        self.chosen, self.choices, self.costs = {}, [], {}
        self.machine_file, self.no_file = None, ""  # for coll_pipering_machine; why there is none
        self.given = {}  # what the environment of jobs sets
        self.proven = {}
        self.rules = []
        self.nothing = None  # why nothing could be tried
        self.began, self.preflight = self.clock(), 0.0

    # ---- preflight

    def prepare(self):
        """Open MPI, its variables, the machine. Returns False after a dry run."""
        options = self.options
        self.directory = files.make_directory(options.out)
        self.read_installation()
        self.check_names()
        if not options.dry_run:
            self.check_journal()
        begun = time.monotonic()
        self.nodes, self.given = preflight.probe(self.launcher)
        self.start_time = max(0.0, time.monotonic() - begun - preflight.WAIT)
        preflight.check_jobs(self.launcher, self.table, self.given, self.to_set(),
                             [self.start, self.proven])
        machine = preflight.describe(self.launcher, self.table, self.nodes, {})
        if options.dry_run:
            self.say_machine(machine)
            self.say_plan(machine)
            return False
        self.program = kernel.build(os.path.join(self.table.prefix, "bin", "mpicc"),
                                    self.directory)
        asked = kernel.run(self.program, self.launcher, [], None,
                           settings=self.start_path(), directory=self.directory)
        self.machine = preflight.describe(self.launcher, self.table, self.nodes, asked)
        self.machine.update(when=self.begun, command=self.command,
                            ranks_per_processor=preflight.crowding(self.nodes, self.given))
        self.say_machine(self.machine)
        self.open_journal(asked)
        return True

    def read_installation(self):
        """Variables of Open MPI, and all settings that the user names."""
        self.launcher = launch.make(self.options.launch)
        self.table = ompi_info.read(self.launcher.ompi_info())
        self.launcher.conf_files = preflight.value_of(self.table, "mca_base_param_files")
        self.start = self.checked(self.options.start)
        self.proven = self.checked(self.options.prove)

    def checked(self, path):
        """The settings of a parameter file that the user names; {} if there is none."""
        settings = files.read_settings(path) if path else {}
        self.table.check(settings, path)
        return {name: self.table.get(name).plain(value) for name, value in settings.items()}

    def tunable(self):
        """Knobs that this release has and the user wants, as far as is known before the machine
        is."""
        return [knob for knob in knobs.wanted(self.options)
                if self.table.get(knob.variable) is not None]

    def to_set(self):
        """Names of the variables that a file made here may set."""
        if self.options.prove:
            return []
        names = [knob.variable for knob in self.tunable()]
        if not self.options.variables:
            # A file of the machine that jobs begin with stays in force, and is no reason to refuse.
            names = [name for name in names if knobs.MACHINE != name] + sorted(rules.names())
        return names

    def check_names(self):
        """Refuses patterns that match no variable that can be tuned."""
        known = knobs.names()
        for pattern in self.options.variables:
            if not fnmatch.filter(known, pattern):
                raise Refusal(f"--variables: {pattern} is no variable that can be tuned; those "
                              f"are {', '.join(known)}; nothing was run")
        known = sorted({text.split(":")[0] for text in held_out.ALL})
        for name in self.options.collectives:
            if name not in known:
                raise Refusal(f"--collectives: {name} is not known; legal are {', '.join(known)}; "
                              "nothing was run")

    def tell(self, lines):
        """Says each of these lines."""
        for line in lines:
            self.say(line)

    def say_machine(self, machine):
        machine["warnings"] = preflight.warnings(machine, self.nodes)
        site = preflight.site_settings(self.table, knobs.names())
        # A dry run has no report to say the others.
        most = None if self.options.dry_run else sentences.MOST_WARNINGS
        self.tell(sentences.of_machine(machine, self.table, self.launcher, most)
                  + sentences.of_time(self.options.budget, MACHINE, RULES - MACHINE,
                                      self.start_time)
                  + sentences.of_settings({**site, **self.start}))

    def say_plan(self, machine):
        """What would be done, for --dry-run."""
        options = self.options
        raced = [knob.variable for knob in (() if options.prove else self.tunable())
                 if knobs.unfit(knob, machine) is None and knob.variable not in self.given]
        self.tell(sentences.of_plan(self.launcher, raced, options.prove,
                                    len(self.held_out(1 << 20, machine)), options.budget))

    def start_path(self):
        """The parameter file of what is in force, None if --start says nothing."""
        return self.write(START, files.settings_text(self.start)) if self.start else None

    def write(self, name, text):
        """Writes a file of the output directory; its path."""
        path = os.path.join(self.directory, name)
        files.write(path, text)
        return path

    def asked_for(self):
        """What a resumed run must have in common with the one that began, before any job is
        run."""
        named = {"--start": self.options.start, "--prove": self.options.prove}
        return {"options": command_line.repeatable(self.options),
                "files": {f"{option} {path}": files.digest(path)
                          for option, path in named.items() if path},
                "installation": preflight.installation(self.table),
                "settings": self.table.given()}

    def check_journal(self):
        """Refuses a journal that cannot be used, before anything is run or written."""
        path = os.path.join(self.directory, JOURNAL)
        if self.options.resume:
            journal.check(path, self.asked_for())
        else:
            journal.refuse_old(path)

    def open_journal(self, asked):
        path = os.path.join(self.directory, JOURNAL)
        head = {**self.asked_for(), "command": self.command, "budget": self.options.budget,
                "preflight": round(self.clock() - self.began, 3),
                "machine": {"library": self.machine["library"], "pml": self.machine["pml"],
                            "kernel": os.path.basename(self.program),
                            "hosts": asked.get("hosts") or self.machine["hosts"]}}
        self.journal = journal.Journal(path, head, self.options.resume)
        prove.forget_failures(self.journal.records)
        self.preflight = self.journal.head.get("preflight", 0.0)
        self.measurer = measure.Measurer(
            self.run_cells, self.journal, progress.Progress(self.until(END)), self.table,
            self.start, self.directory, self.machine, self.clock)

    def run_cells(self, cells, take, path):
        """One job."""
        kernel.run(self.program, self.launcher, cells, take, settings=path,
                   directory=self.directory)

    # ---- steps

    def until(self, part):
        """Seconds that may be spent when a part of the budget is over. The preflight has had its
        time: that of the run which began the journal."""
        return self.part_of(self.options.budget, part)

    def part_of(self, minutes, part):
        return max(0.0, 60 * minutes - self.preflight) * part

    def measure_machine(self):
        """Costs of links and processors, as by --machine, and the file that says them."""
        # Costs and sizes are those of the budget that the journal was begun with: with others,
        # a resumed run would measure all calls anew.
        budget = self.journal.head["budget"]
        until = min(machine_run.LIMIT, self.part_of(budget, MACHINE))
        measured, _ = machine_run.measure(self.machine, lambda cells: self.measurer.measure(
            cells, "machine", until=until))
        load = self.machine.get("ranks_per_processor", 1.0)
        link = machine_file.scope_of(measured, "inter")
        self.largest = calls.largest_size(link and link.link.beta, 60 * budget)
        self.costs = dict(machine_file.lines(measured, load))
        self.no_file = machine_run.problem(measured) or ""
        path = os.path.join(self.directory, MACHINE_FILE)
        if not self.no_file:
            # Nothing in it may depend on when it is made: calls are measured with its contents.
            files.write(path, machine_file.text(
                measured, load, [f"Open MPI {self.machine['release']}, "
                                 f"{sentences.where(self.machine)}"]))
            if knobs.MACHINE in self.given:
                self.no_file = f"jobs begin with {self.given[knobs.MACHINE]} in their environment"
        self.machine_file = None if self.no_file else path
        self.tell(sentences.of_costs(self.costs, path, self.no_file))

    def choose(self):
        chooser = choose.Chooser(self.measurer, self.table, self.machine, self.start,
                                 self.options, self.machine_file, self.no_file)
        chooser.run(self.largest, self.until(CHOICE), self.until(RULES))
        self.choices, self.chosen = chooser.choices, chooser.chosen
        self.tell(sentences.of_choices(self.choices, chooser.left))
        if not chooser.tried:
            self.nothing = chooser.why_nothing()

    def choose_rules(self):
        if self.options.variables:
            return
        racer = rules.Rules(self.measurer, self.table, self.machine, self.chosen, self.options)
        self.rules = racer.run(self.until(RULES))
        if racer.tried:
            self.nothing = None
        self.tell(sentences.of_rules(self.rules, racer.others()))

    def write_files(self):
        """The parameter file, not proven yet, and the rules file; its path, None if nothing was
        chosen. Files of an earlier run there would be taken for what this one finds."""
        for name in (TUNED, REFUSED_FILE):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(self.directory, name))
        if not self.chosen and not self.rules:
            return None
        settings = {**self.start, **self.chosen, **(self.write_rules() if self.rules else {})}
        return self.write(CANDIDATE, files.settings_text(settings, self.provenance()))

    def write_rules(self):
        """Settings by which coll/tuned finds its rules."""
        old = int(self.table.version.split(".")[0]) < 6
        text = rules.as_text if old else rules.as_json
        path = self.write("tuned-rules." + ("txt" if old else "json"),
                          text(self.rules, self.machine["ranks"]))
        return {rules.USE: "true", rules.FILE: path}

    def provenance(self):
        """Comments of the parameter file."""
        lines = sentences.of_file(self.machine, self.command,
                                  {call.part for call in self.held_out(self.largest, self.machine)},
                                  bool(self.rules))
        for row in self.choices:
            if row["variable"] in self.chosen:
                lines.append(f"{row['variable']}: {row['default']} before; {row['reason']}")
        return lines + [f"coll/tuned: {rules.describe(rule)}" for rule in self.rules]

    def prove(self, path):
        """A Proof of a parameter file against what is in force."""
        before = self.start_path()
        for file in filter(None, (before, path)):
            preflight.check_files(self.launcher, self.table, file, files.read_settings(file))
        held = self.held_out(self.largest, self.machine)
        purposes = held_out.purposes(held, self.proving(), self.ruled_collectives())
        prover = prove.Prover(self.measurer, before, path, held, purposes, self.options.seed)
        return prover.run(self.until(PROOF), self.until(END))

    def proving(self):
        """Variables that were chosen, or that a given file sets."""
        return {*self.chosen, *self.proven}

    def ruled_collectives(self):
        """Collectives whose small calls are to be proven."""
        names = self.proving()
        if names & {rules.USE, rules.FILE}:
            return set(rules.NUMBERS)
        return {rule.call.collective for rule in self.rules} \
            | {name for name in rules.NUMBERS if rules.variable_of(name) in names}

    def held_out(self, largest, machine):
        """Calls for the proof, those among them that the choices, or a given file, are for."""
        return held_out.calls_of(largest, machine, self.options.collectives,
                                 self.ruled_collectives())

    # ---- results

    def conclude(self, proof, path):
        """Says the verdict, then writes it: a full disk does not hide it. path: of the file, None
        if there is none."""
        records = self.measurer.records()
        verdict = {**proof._asdict(), "left_out": list(map(str, proof.left_out)),
                   "failing": results.failures_in_force(records)}
        lines = sentences.of_verdict(verdict)
        # That nothing could be tried is said by the sentence with which the run ends.
        self.tell(lines if self.nothing is None else lines[1:])
        if path is not None and not self.options.prove:
            path = self.settle(path, proof)
        use = [] if path is None else sentences.of_use(path, proof)
        self.tell(use)
        found = {"format": results.FORMAT, "machine": self.machine, "costs": self.costs,
                 "calls": results.calls(records), "choices": self.choices,
                 "rules": [rules.describe(rule) for rule in self.rules],
                 "failures": results.failures(records), "verdict": verdict, "use": use}
        self.write("results.json", json.dumps(found, indent=1) + "\n")
        self.write("report.txt", report.make(found))

    def settle(self, path, proof):
        """Gives the file the name that the proof has earned it; its path."""
        name = TUNED if proof.help else REFUSED_FILE
        if not proof.help:
            files.write(path, f"# {proof.sentence}\n" + files.read(path))
        settled = os.path.join(self.directory, name)
        os.replace(path, settled)
        return settled

    def no_proof(self):
        """The Proof where there is no file."""
        sentence = "The settings in force stay: nothing that was tried gains more than noise."
        if self.nothing is not None:
            sentence = f"Nothing could be tried: {self.nothing}."
        return prove.Proof(False, sentence)

    def tune(self):
        """The whole way; the exit status."""
        self.measure_machine()
        self.choose()
        self.choose_rules()
        path = self.write_files()
        proof = self.prove(path) if path is not None else self.no_proof()
        self.conclude(proof, path)
        if self.nothing is not None:
            raise Refusal(f"nothing could be tried, since {self.nothing}; nothing is recommended")
        return GOOD if proof.help or path is None else REFUSED

    def prove_only(self):
        """--prove; the exit status."""
        self.measure_machine()
        # Jobs are given a copy: mpirun --tune does not read blanks around the equals sign, and
        # paths are taken to pieces at commas.
        path = self.write(PROVEN, files.settings_text(self.proven))
        proof = self.prove(path)
        self.conclude(proof, path)
        return GOOD if proof.help else REFUSED

    def run(self):
        if not self.prepare():
            return GOOD
        status = self.prove_only() if self.options.prove else self.tune()
        self.journal.close()
        self.say(f"report: {os.path.join(self.directory, 'report.txt')}")
        return status


def main(arguments):
    """Exit status of pipering-tune with these arguments."""
    options = command_line.parse(arguments)
    # What Slurm sends when an allocation ends is an interrupt too, and so is the end of a terminal,
    # unless nohup was told that the run shall outlive it.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.default_int_handler)
    try:
        if options.machine:
            command = shlex.join(["pipering-tune"] + arguments)
            return GOOD if machine_run.run(options, command, progress.say) else REFUSED
        return Tuning(options, arguments).run()
    except Refusal as refusal:
        return ended(str(refusal), FAILED)
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        return ended(f"{name}{error.strerror or error}; {kept(options)}", FAILED)
    except KeyboardInterrupt:
        return ended(f"interrupted; {kept(options)}", INTERRUPTED)


def ended(sentence, status):
    """Says why the run ends before its time; the exit status."""
    print(f"\npipering-tune: {sentence}.", file=sys.stderr)
    return status


def kept(options):
    """What is left of a run that ends before its time."""
    path = os.path.join(options.out or "", JOURNAL)
    if options.out and os.path.exists(path):
        return f"what was measured stands in {path}, and --resume goes on from there"
    return "nothing was measured"
