# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""pipering-tune: preflight, the machine, choosing, rules for coll/tuned, proof, results."""

import fnmatch
import os
import shlex
import signal
import sys
import time

from . import (calls, choose, command_line, files, held_out, journal, kernel, knobs, launch,
               machine_file, machine_run, measure, ompi_info, preflight, progress, proof_time,
               prove, report, results, rules, sentences)
from .files import Refusal

# Exit status.
GOOD, FAILED, USAGE, REFUSED, INTERRUPTED = 0, 1, 2, 3, 130

# Parts of the budget that are over when each step ends. Choosing, and the rules for coll/tuned,
# end earlier where a proof takes long, but not before LEAST_CHOICE; that part of their time is for
# the choosing.
MACHINE, TRIAL, RULES, PROOF, END = 0.15, 0.2, 0.65, 0.95, 1.0
LEAST_CHOICE, CHOICE = 0.4, 0.8

JOURNAL, MACHINE_FILE = "journal.jsonl", "machine"
# The parameter file: what was chosen, and what that is called when the proof is over.
CANDIDATE, TUNED, REFUSED_FILE = "candidate.conf", "tuned.conf", "refused.conf"
# The files that --prove and --against name, as jobs are given them.
PROVEN, AGAINST = "prove.conf", "against.conf"


def start_settings(options, table):
    """Settings that the user names as in force."""
    settings = checked(options.start_file, table)
    for text in options.start:
        name, value = files.setting(text, "--start")
        settings[name] = value
    table.check(settings, "--start")
    return {name: table.get(name).plain(value) for name, value in settings.items()}


def checked(path, table):
    """The settings of a parameter file that the user names; {} if there is none."""
    settings = files.read_settings(path) if path else {}
    table.check(settings, path)
    return settings


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
        self.proven, self.against = {}, {}
        self.rules, self.ruled = [], {}
        self.nothing = None  # why nothing could be tried
        self.began, self.preflight = self.clock(), 0.0
        self.ends = 0.0, 0.0  # of choosing, and of the rules
        self.proof_begin = 0.0  # at the latest

    # ---- preflight

    def prepare(self):
        """Open MPI, its variables, the machine. Returns False after a dry run."""
        options = self.options
        self.directory = files.make_directory(options.out)
        self.read_installation()
        self.launcher = launch.make(options, preflight.value_of(self.table,
                                                                "mca_base_param_files"))
        self.check_names()
        preflight.check_environment([*self.start, *self.proven, *self.against, *self.to_set()])
        if not options.dry_run:
            self.check_journal()
        begun = time.monotonic()
        self.nodes, self.given = preflight.probe(self.launcher)
        self.start_time = max(0.0, time.monotonic() - begun - preflight.WAIT)
        preflight.check_jobs(self.launcher, self.table, self.given, self.to_set(),
                             [self.start, self.proven, self.against])
        machine = preflight.describe(self.launcher, self.table, self.nodes, {})
        if options.dry_run:
            self.say_machine(machine)
            self.say_plan(machine)
            return False
        self.program = kernel.build(os.path.join(self.table.prefix, "bin", "mpicc"),
                                    self.directory)
        preflight.check_program(self.launcher, self.program)
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
        options = self.options
        info = options.ompi_info or launch.beside(
            launch.find_mpirun(options.mpirun) if not options.launch else
            options.mpirun or os.path.join(os.environ.get("OMPI_PREFIX", ""), "bin", "mpirun"),
            "ompi_info")
        self.table = ompi_info.read([info])
        self.start = start_settings(options, self.table)
        self.proven = checked(options.prove, self.table)
        self.against = checked(options.against, self.table)

    def tunable(self):
        """Knobs that this release has and the user wants, as far as is known before the machine
        is."""
        return [knob for knob in knobs.KNOBS
                if knobs.is_wanted(knob, self.options.variables)
                and knobs.has_calls(knob, self.options.collectives)
                and self.table.get(knob.variable) is not None]

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
        most = len(machine["warnings"]) if self.options.dry_run else sentences.MOST_WARNINGS
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
        if not self.start:
            return None
        path = os.path.join(self.directory, "start.conf")
        files.write(path, files.settings_text(self.start, ["What --start says is in force."]))
        return path

    def asked_for(self):
        """What a resumed run must have in common with the one that began, before any job is
        run."""
        named = {"--start-file": self.options.start_file, "--prove": self.options.prove,
                 "--against": self.options.against}
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
        self.journal = (journal.Journal.resume(path, head) if self.options.resume
                        else journal.Journal.create(path, head))
        prove.forget_failures(self.journal.records)
        self.preflight = self.journal.head.get("preflight", 0.0)
        self.measurer = measure.Measurer(
            self.run_cells, self.journal, progress.Progress(self.until(END)), self.table,
            self.start, self.directory, self.machine, self.clock)

    def run_cells(self, cells, take, path, form):
        launcher = self.launcher if form is None else self.launcher.through(form)
        kernel.run(self.program, launcher, cells, take, settings=path, directory=self.directory)

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
        measuring = machine_run.Measuring(self.machine, lambda: self.measurer.spent,
                                          min(machine_run.LIMIT, self.part_of(budget, MACHINE)))
        self.measurer.follow(measuring.cells(), "machine", len(measuring.asked), measuring.take)
        measured, load = measuring.measured(), self.machine.get("ranks_per_processor", 1.0)
        link = machine_file.scope_of(measured, "inter")
        self.beta = link and link.link.beta
        self.largest = calls.largest_size(self.beta, 60 * budget)
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

    def try_calls(self):
        """What a proof will cost, and how much time that leaves for choosing."""
        self.proof_costs = proof_time.measure(self.measurer, self.may_be_held(),
                                              self.options.effort, self.options.seed,
                                              self.until(TRIAL))
        if not self.options.prove:
            self.share()

    def share(self):
        """How long choosing, and the rules, may go on: a job that they begin last is in their
        time."""
        costs, held, end = self.proof_costs, self.held(), self.until(END)
        begin = max(self.until(LEAST_CHOICE), min(self.until(RULES), end - costs.proof(held)))
        last, self.proof_begin = begin - costs.job, begin
        self.ends = last - (1 - CHOICE) * (last - self.until(MACHINE)), last
        self.tell(sentences.of_proof(costs, held, begin, end))

    def choose(self):
        chooser = choose.Chooser(self.measurer, self.table, self.machine, self.start,
                                 self.options, self.machine_file, self.no_file)
        chooser.run(self.largest, self.ends[0], self.proof_begin)
        self.choices = chooser.choices
        self.tell(sentences.of_choices(self.choices, chooser.left))
        self.chosen = {name: value for name, value in chooser.chosen.items()
                       if not self.table.get(name).same(value, self.in_force(name))}
        if not chooser.tried:
            self.nothing = chooser.why_nothing()

    def in_force(self, name):
        variable = self.table.get(name)
        return self.start.get(name, variable and variable.value)

    def choose_rules(self):
        if self.options.variables:
            return
        racer = rules.Rules(self.measurer, self.table, self.machine, self.chosen, self.options)
        self.rules = racer.run(self.ends[1])
        if racer.tried:
            self.nothing = None
        self.tell(sentences.of_rules(self.rules, racer.others()))

    def write_files(self):
        """The parameter file, not proven yet, and the rules file; its path, None if nothing was
        chosen. Files of an earlier run there would be taken for what this one finds."""
        for name in (TUNED, REFUSED_FILE):
            files.remove(os.path.join(self.directory, name))
        settings = {**self.start, **self.chosen}
        if self.rules:
            self.ruled = self.write_rules()
            settings.update(self.ruled)
        if not self.chosen and not self.rules:
            return None
        path = os.path.join(self.directory, CANDIDATE)
        files.write(path, files.settings_text(settings, self.provenance()))
        return path

    def write_rules(self):
        """Settings by which coll/tuned finds its rules."""
        old = int(self.table.version.split(".")[0]) < 6
        path = os.path.join(self.directory, "tuned-rules." + ("txt" if old else "json"))
        text = rules.as_text if old else rules.as_json
        files.write(path, text(self.rules, self.machine["ranks"]))
        return {rules.USE: "true", rules.FILE: path}

    def provenance(self):
        """Comments of the parameter file."""
        lines = sentences.of_file(self.machine, self.command, self.launcher.forms,
                                  {call.part for call in self.held()}, bool(self.rules))
        for row in self.choices:
            if row["variable"] in self.chosen:
                lines.append(f"{row['variable']}: {row['default']} before; {row['reason']}")
        return lines + [f"coll/tuned: {rules.describe(rule)}" for rule in self.rules]

    def prove(self, path, before):
        """A Proof of a parameter file against another (None: what is in force)."""
        given = {file: files.read_settings(file) for file in (before, path) if file}
        forms = self.launcher.forms
        for form in forms:
            for file, settings in given.items():
                preflight.check_files(self.launcher.through(form), self.table, file, settings)
        held = self.held()
        purposes = held_out.purposes(held, self.proving(), self.ruled_collectives())
        prover = prove.Prover(self.measurer, prove.Files(before, path, forms), held,
                              self.proof_costs, purposes, self.options.effort, self.options.seed,
                              bool(self.options.against))
        return prover.run(self.until(PROOF), self.until(END))

    def proving(self):
        """Variables that were chosen, or that given files set."""
        return {*self.chosen, *self.proven, *self.against}

    def ruled_collectives(self):
        """Collectives whose small calls are to be proven."""
        names = self.proving()
        if names & {rules.USE, rules.FILE}:
            return set(rules.NUMBERS)
        return {rule.call.collective for rule in self.rules} \
            | {name for name in rules.NUMBERS if rules.variable_of(name) in names}

    def held(self):
        return self.held_out(self.largest, self.machine)

    def held_out(self, largest, machine):
        """Calls for the proof, those among them that the choices, or given files, are for."""
        return self.held_out_for(self.proving(), self.ruled_collectives(), largest, machine)

    def may_be_held(self):
        """Calls that a proof may have, whatever is chosen."""
        if self.options.prove:
            return self.held()
        names = {knob.variable for knob in self.tunable()}
        return self.held_out_for(names, set(rules.NUMBERS), self.largest, self.machine)

    def held_out_for(self, names, small, largest, machine):
        affected = {held_out.kind(text) for name in names for text in knobs.calls_showing(name)}
        return held_out.calls_of(largest, machine, self.options.collectives, self.options.short,
                                 affected, small)

    # ---- results

    def write_results(self, proof, path):
        records = self.measurer.records()
        found = {"format": results.FORMAT, "machine": self.machine, "costs": self.costs,
                 "calls": results.calls(records, self.beta),
                 "choices": self.choices, "rules": [rules.describe(rule) for rule in self.rules],
                 "failures": results.failures(records),
                 "verdict": {"help": proof.help, "sentence": proof.sentence, "hurt": proof.hurt,
                             "broken": list(proof.broken), "better": list(proof.better),
                             "doubts": list(proof.doubts), "limit": proof.limit,
                             "compared": proof.compared,
                             "left_out": list(map(str, proof.left_out))}}
        if proof.help and not proof.compared:
            ways = {"tune": "mpirun --tune", "conf": "mca-params.conf"}
            found["files"] = {ways[form]: path for form in self.launcher.forms}
        results.write(self.directory, found)
        report.write(found, os.path.join(self.directory, "report.html"))

    def say_verdict(self, proof):
        lines = sentences.of_verdict(proof, results.failures_in_force(
            self.measurer.records(), not self.options.against))
        # That nothing could be tried is said by the sentence with which the run ends.
        self.tell(lines if self.nothing is None else lines[1:])

    def settle(self, path, proof):
        """Gives the file the name that the proof has earned it; its path."""
        name = TUNED if proof.help else REFUSED_FILE
        if not proof.help:
            files.write(path, f"# {proof.sentence}\n" + files.read(path))
        settled = os.path.join(self.directory, name)
        files.rename(path, settled)
        return settled

    def no_proof(self):
        """The Proof where there is no file."""
        sentence = "The settings in force stay: nothing that was tried gains more than noise."
        if self.nothing is not None:
            sentence = f"Nothing could be tried: {self.nothing}."
        return prove.Proof(False, sentence, [], None, 0)

    def tune(self):
        """The whole way; the exit status."""
        self.measure_machine()
        self.try_calls()
        self.choose()
        self.choose_rules()
        path = self.write_files()
        proof = self.prove(path, self.start_path()) if path is not None else self.no_proof()
        self.say_verdict(proof)
        if path is not None:
            path = self.settle(path, proof)
            self.tell(sentences.of_use(self.launcher.forms, path, proof))
        self.write_results(proof, path)
        if self.nothing is not None:
            raise Refusal(f"nothing could be tried, since {self.nothing}; nothing is recommended")
        return GOOD if proof.help or path is None else REFUSED

    def prove_only(self):
        """--prove; the exit status."""
        self.measure_machine()
        self.try_calls()
        path = self.write_given(PROVEN, self.proven)
        before = self.write_given(AGAINST, self.against) if self.options.against \
            else self.start_path()
        proof = self.prove(path, before)
        if self.options.against:
            proof = prove.agreement(proof)
        self.say_verdict(proof)
        if proof.help and not self.options.against:
            self.tell(sentences.of_use(self.launcher.forms, path, proof))
        self.write_results(proof, path)
        return GOOD if proof.help else REFUSED

    def write_given(self, name, settings):
        """The path of a file with the settings of one that the user names. Jobs are given this
        one: mpirun --tune does not read blanks around the equals sign, and takes paths to pieces
        at commas."""
        path = os.path.join(self.directory, name)
        files.write(path, files.settings_text(settings))
        return path

    def run(self):
        if not self.prepare():
            return GOOD
        status = self.prove_only() if self.options.prove else self.tune()
        self.journal.close()
        self.say(f"report: {os.path.join(self.directory, 'report.html')}")
        return status


def main(arguments, tuning=Tuning):
    """Exit status of pipering-tune with these arguments. tuning: a Tuning, or one that is posed."""
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
        return tuning(options, arguments).run()
    except Refusal as refusal:
        return ended(f"{refusal}; {kept(options)}" if refusal.late else str(refusal), FAILED)
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
