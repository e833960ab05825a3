# Debian 13's mpirun passes PMIx's path for components on to Open MPI, which then does not look for
# its own.
export OMPI_MCA_mca_base_component_path="${OMPI_MCA_mca_base_component_path:-SYSTEM_DEFAULT:USER_DEFAULT}"
