# SPDX-License-Identifier: Apache-2.0
# Writes the manual page of a command with the sections of man-pages(7): cmake -DHELP2MAN=... -DCOMMAND="./leadline link" -DNAME=leadline-link
# -DSUMMARY=... -DVERSION=... -DPAGE=FILE -P leadline_man_page.cmake, in the folder of the program. help2man makes name, synopsis, description and options of
# what --help says; exit status and examples are what follows there; environment, files and what else to read stand here.
cmake_policy(SET CMP0054 NEW)

set(ENV{COLUMNS} 100)
separate_arguments(words UNIX_COMMAND "${COMMAND}")
execute_process(COMMAND ${words} --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${HELP2MAN}" --no-info --no-discard-stderr --name "${SUMMARY}" --version-string "${VERSION}" "${COMMAND}"
  OUTPUT_VARIABLE page COMMAND_ERROR_IS_FATAL ANY)

# cut(TEXT VARIABLE PATTERN): TEXT behind the first match, into VARIABLE (empty where there is none); TEXT keeps what is before it.
function(cut text_name result_name pattern)
  set(text "${${text_name}}")
  set(result "")
  string(REGEX MATCH "${pattern}" found "${text}")
  if(found)
    string(FIND "${text}" "${found}" begin)
    string(LENGTH "${found}" length)
    math(EXPR end "${begin} + ${length}")
    string(SUBSTRING "${text}" ${end} -1 result)
    string(SUBSTRING "${text}" 0 ${begin} text)
  endif()
  set(${text_name} "${text}" PARENT_SCOPE)
  set(${result_name} "${result}" PARENT_SCOPE)
endfunction()

# roff(TEXT): the text as troff takes it.
function(roff text_name)
  string(REPLACE "\\" "\\e" text "${${text_name}}")
  string(REPLACE "-" "\\-" text "${text}")
  string(REGEX REPLACE "\n([.'])" "\n\\\\&\\1" text "${text}")
  set(${text_name} "${text}" PARENT_SCOPE)
endfunction()

# What stands behind the options in --help.
cut(help examples " *Examples?: *")
cut(help exit_status "(\n| )(Exit status|Status): ")
string(REGEX REPLACE "\n *" " " exit_status "${exit_status}")
string(STRIP "${exit_status}" exit_status)
roff(exit_status)
roff(examples)
string(REGEX REPLACE "^\n+" "" examples "${examples}")
string(REGEX REPLACE "\n+$" "" examples "${examples}")

# help2man has the same there, without order.
cut(page ignored "(\n\\.PP\n|\n| )(Exit status|Status): ")
cut(page ignored "\n(\\.SH EXAMPLES?|Examples?:)")
string(REGEX REPLACE "[ \n]+$" "" page "${page}")

# A page is found by its name, and so is its first line by apropos(1).
string(TOUPPER "${NAME}" title)
string(REGEX REPLACE "\n\\.TH [^ ]+ " "\n.TH ${title} " page "${page}")
string(REPLACE "-" "\\-" escaped_name "${NAME}")
string(REGEX MATCH "\n\\.SH NAME\n[^\n]* \\\\- " first_line "${page}")
string(REPLACE "${first_line}" "\n.SH NAME\n${NAME} \\- " page "${page}")
string(REPLACE ".SS \"Positionals:\"" ".SS Arguments" page "${page}")
string(REPLACE ".SS \"positional arguments:\"" ".SS Arguments" page "${page}")
string(REPLACE ".SS \"options:\"" ".SH OPTIONS" page "${page}")
string(REGEX REPLACE "\n([A-Z.]+) REQUIRED\n" "\n\\1\n" page "${page}")
string(REGEX REPLACE "\n(\\\\fB\\\\-[a-zA-Z]\\\\fR),(\\\\-\\\\-[^ \n]+)" "\n\\1, \\\\fB\\2\\\\fR" page "${page}")
# argparse writes "usage:", which help2man does not take for one.
if(page MATCHES "\n\\.SH DESCRIPTION\nusage: ")
  string(REGEX MATCH "\n\\.SH DESCRIPTION\nusage: (.*)" ignored "${page}")
  set(behind "${CMAKE_MATCH_1}")
  string(FIND "${behind}" "\n.PP\n" end)
  string(SUBSTRING "${behind}" 0 ${end} synopsis)
  string(REPLACE "\n.TP" "" synopsis "${synopsis}")
  string(REPLACE "\n.IP" "" synopsis "${synopsis}")
  math(EXPR end "${end} + 5")
  string(SUBSTRING "${behind}" ${end} -1 behind)
  cut(page ignored "\n\\.SH DESCRIPTION\nusage: ")
  string(APPEND page "\n.SH SYNOPSIS\n${synopsis}\n.SH DESCRIPTION\n${behind}")
endif()

if(NOT NAME MATCHES "^leadline")
  string(REPLACE "\n.SH FILES\n" "\n.SS Files\n" page "${page}") # a group of options
endif()
if(NAME STREQUAL "leadline")
  # help2man takes the longest names of commands for text.
  string(REGEX REPLACE "\n\\.IP\n(simulate link) " "\n.TP\n\\1\n" page "${page}")
  string(REGEX REPLACE "\n([a-z]+)   *([a-z][^\n]*)" "\n.TP\n\\1\n\\2" page "${page}")
  string(APPEND page "\n.PP\nThe commands of the analysis have pages of their own: accept, cost, export, history, report, score, simulate and view.")
endif()
if(NAME MATCHES "^leadline" AND NOT exit_status)
  string(CONCAT exit_status "0 fine, 1 what was asked for is not so, or not all could be measured, 2 the command line is wrong, 3 something is "
    "missing here, 4 the run failed on the way, or a file is damaged.")
endif()
if(exit_status)
  cut(page environment "\n\\.SH ENVIRONMENT")
  string(APPEND page "\n.SH EXIT STATUS\n${exit_status}")
  if(environment)
    string(APPEND page "\n.SH ENVIRONMENT${environment}")
  endif()
endif()

set(see_also "\\fBleadline\\fR(1)")
if(NAME MATCHES "^leadline")
  set(measures "^leadline-(link|topology|bisection|io|congestion|collective|check)$")
  set(analyses "^leadline-(accept|cost|export|history|report|score|simulate|view)$")
  string(APPEND page "\n.SH ENVIRONMENT")
  if(NOT NAME MATCHES "${analyses}")
    string(APPEND page "\n.TP\n.B NO_COLOR\nwhere it is set, nothing is coloured"
      "\n.TP\n.B COLUMNS\ncolumns of a table on a terminal, in place of its own width")
  endif()
  if(NAME MATCHES "${measures}")
    string(APPEND page
      "\n.TP\n.BR LEADLINE_RANK \", \" LEADLINE_SIZE\nnumber of this process and of all, where no launcher says it"
      "\n.TP\n.BR LEADLINE_ADDRESS \", \" LEADLINE_PORT\nwhere rank 0 listens, in such a run"
      "\n.TP\n.B LEADLINE_SECRET\nwhat only the processes of such a run know"
      "\n.TP\n.B LEADLINE_LIBMPI\nthe MPI library to open (its full path), in place of that of the launcher"
      "\n.PP\nThe libraries of the transports have variables of their own, such as UCX_TLS and FI_PROVIDER; \\(lqleadline transports \\-\\-verbose\\(rq lists settings.")
    string(APPEND see_also ", \\fBleadline-diagnose\\fR(1), \\fBleadline-report\\fR(1), \\fBleadline-transports\\fR(1), \\fBmpirun\\fR(1), \\fBsrun\\fR(1)")
  elseif(NAME MATCHES "${analyses}")
    string(APPEND page "\n.TP\n.B TMPDIR\nfolder for temporary files, such as a SION result as HDF5"
      "\n.TP\n.B LEADLINE_PROGRAM\nthe program \\fBleadline\\fR, where it is not beside this one or on the PATH")
    string(APPEND see_also ", \\fBleadline-link\\fR(1), \\fBleadline-diagnose\\fR(1)")
  elseif(NAME STREQUAL "leadline")
    set(see_also "\\fBleadline-check\\fR(1), \\fBleadline-link\\fR(1), \\fBleadline-topology\\fR(1), \\fBleadline-bisection\\fR(1), \\fBleadline-io\\fR(1), \\fBleadline-diagnose\\fR(1), \\fBleadline-compare\\fR(1), \\fBleadline-report\\fR(1)")
  else()
    string(APPEND see_also ", \\fBleadline-link\\fR(1), \\fBleadline-report\\fR(1)")
  endif()
  if(NAME STREQUAL "leadline-check")
    string(APPEND page "\n.SH FILES\n.TP\n.I leadline\\-check\\-TIME\nfolder with the result of each part, if no \\fB\\-\\-output\\fR is given")
  elseif(NAME MATCHES "${measures}")
    string(APPEND page "\n.SH FILES\n.TP\n.I ${escaped_name}\\-TIME.h5\nthe result, if no \\fB\\-\\-output\\fR is given; the format is HDF5")
  elseif(NOT NAME MATCHES "^leadline-(cables|completion|patterns|schema|transports)$")
    string(APPEND page "\n.SH FILES\n.TP\n.I *.h5\nresults, in HDF5; \\(lqleadline schema hdf5\\(rq describes them")
  endif()
endif()
if(examples)
  string(APPEND page "\n.SH EXAMPLES\n.nf\n${examples}\n.fi")
endif()
string(APPEND page "\n.SH SEE ALSO\n${see_also}\n")
file(WRITE "${PAGE}" "${page}")
